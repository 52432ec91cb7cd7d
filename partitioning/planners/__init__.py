"""Every planner by name. A planner is a pure function of a request and, where it has any, its options."""

from collections.abc import Callable

from partitioning.plan import Plan
from partitioning.planners.evenkeel import plan_evenkeel
from partitioning.planners.frequency_hash import FREQUENCY_HASH, plan_frequency_hash
from partitioning.planners.llfd import plan_llfd
from partitioning.planners.min_mig import plan_min_mig
from partitioning.planners.min_table import plan_min_table
from partitioning.planners.mixed import plan_mixed
from partitioning.planners.mixed_bf import plan_mixed_bf
from partitioning.planners.mixed_compact import plan_mixed_compact
from partitioning.planners.readj import plan_readj
from partitioning.planners.redist import plan_redist
from partitioning.planners.scan import plan_scan
from partitioning.planners.stay import plan_stay

# (request: PlanRequest, options: that planner's own dataclass, optional) -> Plan
Planner = Callable[..., Plan]

PLANNERS: dict[str, Planner] = {
    "evenkeel": plan_evenkeel,
    "stay": plan_stay,
    "scan": plan_scan,
    "redist": plan_redist,
    "readj": plan_readj,
    "llfd": plan_llfd,
    "min_table": plan_min_table,
    "min_mig": plan_min_mig,
    "mixed": plan_mixed,
    "mixed_bf": plan_mixed_bf,
    "mixed_compact": plan_mixed_compact,
    FREQUENCY_HASH: plan_frequency_hash,
}
