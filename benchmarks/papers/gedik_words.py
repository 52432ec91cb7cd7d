"""What Gedik's text says of his figures, and why ours differ. The figures themselves are pictures: only the text has numbers."""

from benchmarks.papers.sheets import Grids, Reading, Words, show
from benchmarks.papers.words import NO_NUMBER, cells, ends, growth, most, over, ratio

TABLE_1 = "Table 1 of the paper: N = 10, α = 1.2, LCL, |D| = 10^6, z = 1, σ = 0.1, U_APM"
M, B, THETA = "relative migration m", "relative imbalance b", "θ of traffic"


ONE_COST = (
    "evenkeel evens out one cost, the traffic, and bounds the hottest bucket: it is given the θ at which max/min ≤ α follows."
    " Numbers of keys (the constant resource) it does not look at, and it moves slots full of rare keys to make room for frequent ones:"
    " where the constant resource counts in b, or squares of frequencies do (LQL), b says so, while θ is the goal wherever a plan can reach it."
)
OUR_B = "evenkeel's b is above that of readj, redist and scan where numbers of keys count (CCL, LCL) or squares of frequencies (LQL): it evens out one cost, not three."


def _time_grid(grids: Grids) -> str:
    return next(iter(grids))


def _time(grids: Grids, row: str, column: str) -> str:
    return f"{show(grids[_time_grid(grids)].at(row, column))} sorts"


def _growth(grids: Grids, row: str) -> str:
    """From the first column to the last; of all rows if the name is none."""
    grid = grids[_time_grid(grids)]
    rows = [row] if row in grid.rows else list(grid.rows)
    return ", ".join(f"{name} {show(grid.rows[name][0])} to {show(grid.rows[name][-1])}" for name in rows)


WORDS: dict[int, Words] = {
    3: Words(
        title="Gedik, Fig. 3: resource functions",
        place="Sec. 5.3",
        setting=f"{TABLE_1}; CCL, LCL, LLL, LQL.",
        readings=(
            Reading("uniform hash, m", "more than 8", cells("LLL", ("uniform hash", "m"))),
            Reading("consistent hash, m", "below 1 in some cases", cells("LLL", ("consistent hash", "m"))),
            Reading("b, LLL: consistent hash", "1.75", cells("LLL", ("consistent hash", "b"))),
            Reading("b, LLL: uniform hash", "1.55", cells("LLL", ("uniform hash", "b"))),
            Reading("b, LLL: readj", "about 1.2", cells("LLL", ("readj", "b"), ("readj + hash load", "b"))),
            Reading("b, LLL: redist, scan", "1.32", cells("LLL", ("redist", "b"), ("scan", "b"))),
            Reading("m, LLL: readj", "about 1.34", cells("LLL", ("readj", "m"), ("readj + hash load", "m"))),
            Reading("m, LLL: redist, scan", "1.23", cells("LLL", ("redist", "m"), ("scan", "m"))),
            Reading(
                "b of computation, LQL, all but the consistent hash", "in the 30s",
                cells("LQL", ("readj", "b of computation"), ("redist", "b of computation"), ("scan", "b of computation"), ("uniform hash", "b of computation")),
            ),
            Reading("b and m, LLL: evenkeel", "-", cells("LLL", ("evenkeel", "b"), ("evenkeel", "m"))),
        ),
        difference="Redist and scan come out as printed. The hashes do not: b is higher, m of the consistent hash is nowhere below 1, and the uniform hash is far above the 30s where computation is quadratic. Readj as printed looks at tracked keys only, which are 30 % of the load here:"
        " balanced among themselves they do not balance channels. Given the load that the hash places as well, it has the paper's b:"
        " perhaps what was run, though its m is then further from the paper's than that of readj as printed. m is an average over hash seeds in which one very frequent key moves or not, 0.7 of m at a time."
        f" {ONE_COST}",
        other_shape=f"Fig. 3: m of the consistent hash is 1.04 to 1.1, not below 1, and with LQL redist and scan (1.04) are below its 1.1, where the paper has it best; b of computation with LQL is far above the 30s for the uniform hash, too. {OUR_B}",
    ),
    4: Words(
        title="Gedik, Fig. 4: data skew",
        place="Sec. 5.3",
        setting=f"{TABLE_1}; z as shown, LQL up to 0.5 as in the paper.",
        readings=(
            Reading("uniform hash, m", "more than 8 at every z", ends(f"{M}, LLL", "uniform hash")),
            Reading("m of the three starts to rise", "after z = 0.8", ends(f"{M}, LLL", "scan", "redist", "readj")),
            Reading(
                "m at z = 1, LLL", "most of scan, then readj, then redist",
                cells(f"{M}, LLL", ("scan", "1"), ("readj", "1"), ("readj + hash load", "1"), ("redist", "1")),
            ),
            Reading(
                "b at z = 1, LLL: consistent hash over the best", "up to 50 % higher than readj",
                over(f"{B}, LLL", "1", "consistent hash", "readj", "readj + hash load"),
            ),
            Reading("b at z = 1, LLL: readj below redist and scan", "up to 8 % lower", over(f"{B}, LLL", "1", "readj", "redist", "scan")),
            Reading("the same, readj + hash load", "-", over(f"{B}, LLL", "1", "readj + hash load", "redist", "scan")),
            Reading("LQL, b", "all close, readj 1 to 2 % higher", cells(f"{B}, LQL", ("readj", "0.5"), ("redist", "0.5"), ("scan", "0.5"))),
            Reading("b at z = 1, LLL: evenkeel", "-", cells(f"{B}, LLL", ("evenkeel", "1"))),
        ),
        difference="b as in the paper: everything is fine at low skew, of the paper's algorithms the consistent hash is the first above 1, LQL violates earliest and"
        " LCL latest. m rises after z = 0.8 as printed, but scan has not the most: it is level with readj as printed, and readj + hash load has half as much again. One very frequent key moves or"
        f" not, which two hash seeds do not even out. {ONE_COST}",
        other_shape="Fig. 4: at z = 1 scan does not move the most: readj + hash load does, while scan, readj as printed and redist are within the noise of the hash seeds."
        f" {OUR_B}",
    ),
    5: Words(
        title="Gedik, Fig. 5: frequency threshold scaler",
        place="Sec. 5.3",
        setting=f"{TABLE_1}; σ as shown (the paper: 0.01 to 1; its readings of size and time go down to 0.008), LCL and LQL.",
        readings=(
            Reading("lower σ", "lower b, higher m", ends(f"{B}, LCL", "readj", "redist", "scan")),
            Reading("least and most m of the three", "redist least, scan most", cells(f"{M}, LCL", ("readj", "0.05"), ("redist", "0.05"), ("scan", "0.05"))),
            Reading("LQL, b at σ = 0.25, 0.5, 1: readj, scan", "a jump between σ = 0.25 and 0.5", cells(f"{B}, LQL", *((row, sigma) for row in ("readj", "scan") for sigma in ("0.25", "0.5", "1")))),
        ),
        difference="A lower σ brings a lower b, as in the paper (but for readj with LQL between 0.008 and 0.02), and with LQL b jumps where the paper has it, and again to σ = 1. What a lower σ gains is more with LQL (readj from 8.26 to 3.6) than with LCL (1.42 to 1.01), where"
        " the paper has it less pronounced; and with LCL readj stays the most even down to 0.008, where the paper's does not. With a large σ the three move less than the consistent hash, which the paper has best: with LCL from 0.25 on, with LQL redist and scan from 0.1 on, readj from 0.5 on. Readj is held to five readjustments a key above 100 tracked keys"
        " (σ below 0.04), the paper's c: without that its rounds take minutes. evenkeel's θ does not depend on σ, since it also moves slots. Which of the three has the most m changes with the"
        " hash seed here: two seeds do not tell them apart.",
        other_shape="Fig. 5: which of the three moves most changes with the hash seed; the paper tells them apart. With a large σ they move less than the consistent hash. A lower σ gains more with LQL than with LCL, not less:"
        " what is tracked at σ = 1 are so few keys that squares are far from even. With LCL readj stays the most even at the lowest σ: five readjustments a key are enough there.",
    ),
    6: Words(
        title="Gedik, Fig. 6: number of channels",
        place="Sec. 5.3",
        setting=f"{TABLE_1}; N as shown.",
        readings=(
            Reading("m at 32: uniform hash", "around 22", cells(M, ("uniform hash", "32"))),
            Reading("m: redist", "flat, about 1.15", ends(M, "redist")),
            Reading("m at 32: scan", "above 3", cells(M, ("scan", "32"))),
            Reading("b at 32: consistent hash", "above 2", cells(B, ("consistent hash", "32"))),
            Reading("m at 32, least of all", "consistent hash", cells(M, ("consistent hash", "32"), ("redist", "32"))),
            Reading("b up to N = 20: uniform hash over readj, at most", "up to 36 % higher", most(B, "uniform hash", "readj", "readj + hash load", up_to="20")),
            Reading("b above N = 20", "readj above redist and scan", cells(B, ("readj", "32"), ("redist", "32"), ("scan", "32"))),
        ),
        difference="From N = 15 on the most frequent key alone is more than a channel's share (6.9 %), so that no placement of whole keys is"
        " balanced, ours included. Then θ cannot fall; evenkeel fills the added channel all the same, as even as the others, and leaves that key a channel to itself. b is made of"
        " key counts too, which such a channel does not have (b around 50). A remainder of a hash moves (N - 1)/N of everything, N - 1 times the ideal: 31 at N = 32."
        " The paper's 22 is less than that, so its uniform hash must be another. Our scan moves little where one key decides rho: every place costs"
        " the same balance, so that the least migration wins, and ties go to where the key is. The paper says nothing of ties; its scan is above 3."
        " For the same reason redist and scan move less than the consistent hash from N = 24 on.",
        other_shape="Fig. 6: uniform hash moves N - 1 times the ideal, 31 at N = 32, not 22: that is what a remainder does. Scan's m does not rise to 3 but stays at 1: where one key"
        " decides rho, equal places are ties, and our ties stay; so does redist's, and from N = 24 on both are below the consistent hash. Readj's b stays below redist's and scan's above N = 20, by 2 to 4 %, and is not the lowest of them at N = 2, 4 and 20, by 1 % at most;"
        " the uniform hash, not the consistent one, is the least even at N = 20: two hash seeds, one heavy key. evenkeel's b"
        " is around 50 once one key is above the mean (N from 15 on): the key gets a channel to itself, and b counts keys.",
    ),
    7: Words(
        title="Gedik, Fig. 7: utility functions, of readj and redist",
        place="Sec. 5.3",
        setting=f"{TABLE_1}; LCL and LQL (the quick form: LCL).",
        readings=(
            Reading("readj, m", "U_A is worst; U_APM least, but U_APLM with LCL", ends(f"{M}, readj, LCL", "readj")),
            Reading(
                "readj, LCL, m: U_A, U_APM, U_APLM", NO_NUMBER,
                cells(f"{M}, readj, LCL", ("readj", "U_A"), ("readj", "U_APM"), ("readj", "U_APLM")),
            ),
            Reading("redist, LCL, m: most", "U_APLM", cells(f"{M}, redist, LCL", ("redist", "U_A"), ("redist", "U_APLM"))),
            Reading(
                "redist, m: U_APLM over U_APM", "30 to 35 % higher",
                ratio(f"{M}, redist, LCL", ("redist", "U_APLM"), ("redist", "U_APM")),
            ),
            Reading(
                "redist, m: U_ATM over U_APM", "35 to 40 % lower",
                ratio(f"{M}, redist, LCL", ("redist", "U_ATM"), ("redist", "U_APM")),
            ),
            Reading(
                "redist, b: U_ATM over U_APM", "up to 3 times, with LQL",
                ratio(f"{B}, redist, LQL", ("redist", "U_ATM"), ("redist", "U_APM")),
            ),
        ),
        difference="Readj moves the most under U_A, as printed; the others are close to each other, U_APM not always the least of them. Redist too moves the most under U_A, which ignores migration,"
        " where the paper has U_APLM; and under U_APLM it moves less than a third more than under U_APM. What U_A spends on migration it has in balance: with redist its b is the lowest, where the paper names"
        " U_APM and U_APLM. That U_ATM and U_ATLM move the least and leave LQL unbalanced is as printed. evenkeel has no utility function: θ is a goal, and migration what it minimises; its line is one and the same run.",
        other_shape="Fig. 7: redist moves the most, and is the most even, under U_A, where the paper has U_APLM move the most; U_APLM moves 9 % (LCL) and 18 % (LQL) more than U_APM, not a third. Readj's least m"
        " is U_ATLM's with LCL (1.06, U_APLM 1.07) and U_ATM's with LQL (1.25, U_APM 1.27), not U_APLM's and U_APM's, and with LQL its lowest b is U_APLM's (3.84, U_APM 3.87): differences of 1 to 2 %, which two hash seeds do not tell apart.",
    ),
    8: Words(
        title="Gedik, Fig. 8: domain size",
        place="Sec. 5.3",
        setting=f"{TABLE_1}; |D| as shown, to 10^8 as in the paper.",
        readings=(
            Reading("m: uniform hash", "6.5 to 7.5, rising with |D|", ends(M, "uniform hash")),
            Reading("m: consistent hash", "below 1", ends(M, "consistent hash")),
            Reading("m: the three", "2.2 to 1.25, falling with |D|", ends(M, "readj", "redist", "scan")),
            Reading("b: redist over readj, at most", "up to 3 % higher", most(B, "redist", "readj")),
            Reading("b with larger |D|", "falls, then flattens", ends(B, "readj", "redist", "consistent hash")),
        ),
        difference="Balance falls with |D| and flattens, as printed; m of the three falls too, from less than the paper's at the small end, but readj's only to |D| = 10^5, and the others' to 10^7 with a step up in scan's at 10^6. Redist's b is up to 7 % above readj's, and the consistent hash's m is above 1 at 10^4 and at 10^6 (1.1). Which of the three has the least m changes with |D|: one very"
        " frequent key moves or not, which two hash seeds do not even out. A remainder moves nine tenths, so 9 times the ideal, at every |D|.",
        other_shape="Fig. 8: uniform hash stays at 9 times the ideal, the paper has 6.5 to 7.5: see Fig. 6. At 10^4 keys the three move 1.35 to 1.5 times the ideal, not 2.2, readj's m rises again from 10^5 on, and redist is not always the least of them.",
    ),
    9: Words(
        title="Gedik, Fig. 9: σ and the size of the function",
        place="Sec. 5.4",
        setting=f"{TABLE_1}; LCL and LQL, ε = δ / 10.",
        readings=(
            Reading("entries at σ = 0.1, LCL", "around 2500", cells("entries of the lossy counter", ("LCL", "0.1"))),
            Reading("entries at σ = 0.1, LQL", "50K", cells("entries of the lossy counter", ("LQL", "0.1"))),
            Reading("entries with a smaller σ", "more", ends("entries of the lossy counter", "LCL", "LQL")),
            Reading("explicit mappings at σ = 0.1", "around 50, the same for all resources", cells("keys tracked", ("LCL", "0.1"), ("LQL", "0.1"))),
            Reading("explicit mappings over all σ", "1 to 500", ends("keys tracked", "LCL")),
        ),
        difference="Exactly 39 keys have a frequency of δ = 0.00176 or more. Entries are counted after ten and a half windows of the counter, in the middle between two evictions (the quick form: after at most a million tuples): it holds fewer after an eviction and more before; the paper does not say when it looked. evenkeel tracks the same keys but"
        " keeps a route only for those that are not where their slot is. At σ = 1 the threshold that LQL estimates from what was counted is a little below LCL's, so that it leaves 5 keys and not 3; elsewhere both leave the same, as printed.",
        other_shape="Fig. 9: at σ = 1 LQL tracks 5 keys and LCL 3, where the paper has all resources track the same: the threshold estimated from what was counted is a little lower there.",
    ),
    10: Words(
        title="Gedik, Fig. 10: skew and the size of the function",
        place="Sec. 5.4",
        setting=f"{TABLE_1}; LCL and LQL, ε = δ / 10.",
        readings=(
            Reading("entries, LCL", "hardly change with z, slightly fewer at high z", ends("entries of the lossy counter", "LCL")),
            Reading("entries, LQL", "an initial increase, then a slight decrease", ends("entries of the lossy counter", "LQL")),
            Reading("explicit mappings", "grow faster and faster with z", ends("keys tracked", "LCL")),
        ),
        difference="LCL as in the paper. LQL's entries are level up to z = 0.5, where the paper's range of LQL ends, and fall above it, by three fifths: a window of a more skewed stream holds fewer different keys.",
        other_shape="Fig. 10: with LQL entries do not increase first, and fall by three fifths to z = 1, not slightly.",
    ),
    11: Words(
        title="Gedik, Fig. 11: channels and the size of the function",
        place="Sec. 5.4",
        setting=f"{TABLE_1}; ε = δ / 10.",
        readings=(
            Reading("entries", "linear in N", ends("entries of the lossy counter", "LCL")),
            Reading("explicit mappings", "linear in N", ends("keys tracked", "LCL")),
        ),
        difference="As in the paper.",
    ),
    12: Words(
        title="Gedik, Fig. 12: σ and construction time",
        place="Sec. 5.5",
        setting=f"{TABLE_1}. Times of the last step, in argsorts; the paper's are seconds of compiled code on a 3 GHz Xeon.",
        readings=(
            Reading("readj at σ = 0.1", "below 0.05 s", lambda grids: _time(grids, "readj", "0.1")),
            Reading("readj at σ = 0.008", "about 10 s", lambda grids: f"{_time(grids, 'readj', '0.008')}, five moves a key at most"),
            Reading("redist at σ = 0.008", "slightly above 0.5 s", lambda grids: _time(grids, "redist", "0.008")),
        ),
        difference="The order is the paper's: scan, redist, readj, and readj grows fastest. evenkeel plans on 4,096 slots and the tracked keys and also asks the"
        " published planners, so it does not get cheaper with fewer keys.",
    ),
    13: Words(
        title="Gedik, Fig. 13: channels and construction time",
        place="Sec. 5.5",
        setting=f"{TABLE_1}. Times of the last step, in argsorts.",
        readings=(
            Reading("all", "scan cheapest; the others significantly dearer, and rising faster", lambda grids: _growth(grids, "N")),
            Reading("16 times N", "more than 16 times the time", lambda grids: growth(_time_grid(grids), "2", "32", "readj", "redist", "scan")(grids)),
        ),
        difference="As printed scan is the cheapest and the others rise faster, and readj grows more than linearly in N. Redist and scan do not: over 16 times N they take less than 16 times as long. The paper's complexities"
        " count candidate channels for each tracked key; with us all channels of a key are one vector operation, whose time is much the same for 2 and for 32, so that time follows the number of tracked keys, and"
        " that grows 7.7 times (Fig. 11). Above 100 keys (N = 32) readj is held to five readjustments a key. evenkeel's time does not grow with N.",
        other_shape="Fig. 13: redist and scan grow less than linearly in N, where the paper has all three grow faster: all channels of a key are one vector operation here. Readj's time flattens above N = 16.",
    ),
    14: Words(
        title="Gedik, Fig. 14: skew and construction time",
        place="Sec. 5.5",
        setting=f"{TABLE_1}. Times of the last step, in argsorts.",
        readings=(
            Reading("scan", "hardly depends on z", lambda grids: _growth(grids, "scan")),
            Reading("redist, readj", "flat to z = 0.8, then rising, readj faster", lambda grids: _growth(grids, "readj")),
        ),
        difference="Few keys are tracked below z = 0.8, as in the paper, but readj's time rises there already. The paper's time of scan hardly changes since it includes building the consistent hash, which takes as long; ours is that of the explicit part alone.",
        other_shape="Fig. 14: scan's time depends on z, as that of the others, since it follows the number of tracked keys; the paper's includes building the consistent hash, which does not.",
    ),
}  # fmt: skip

TOLERANCE = Words(
    title="Gedik, Table 1: imbalance tolerance α",
    place="Sec. 5.1",
    setting=f"{TABLE_1}; α as shown.",
    readings=(
        Reading("α", "varied from 1 to 4, no result printed", ends(M, "readj", "redist", "scan", "evenkeel")),
        Reading("θ", NO_NUMBER, ends(THETA, "readj", "redist", "scan", "evenkeel")),
    ),
    difference="Of all that the paper varies α alone has no figure, so there is nothing to compare with. Where more is tolerated the three move less, up to α = 2 (readj's 1.37 and 1.38 at 1.05 and 1.1 aside), and are less even;"
    f" at α = 4 they do as little as at 2, with the hash seeds' noise; the hashes do not know α. Below α = 1.5 none of the three reaches what is tolerated (b above 1). {ONE_COST}",
)
