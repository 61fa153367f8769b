"""Gaps of 40 groups with errors clustered by document and 1000 resamples of documents, by pandas and numpy: what bench_gap does, on its files."""
import json, struct, sys, time

try:
    import numpy as np, pandas as pd
except ImportError:
    sys.exit(1)


def columns(path):
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        head = json.loads(f.read(n))
    head.pop("__metadata__", None)
    types = {"U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "F32": "<f4"}
    return {k: np.memmap(path, types[v["dtype"]], "r", 8 + n + v["data_offsets"][0], tuple(v["shape"])) for k, v in head.items() if v["shape"] != [0]}


start = time.perf_counter()
data, tags, a, b = (columns(f"{sys.argv[1]}/{name}") for name in ("data", "tags", "a", "b"))
ends = data["doc_token_end"].astype(np.int64)
gap = a["nll"].astype(np.float64) - b["nll"]
frame = pd.DataFrame({"family": tags["family"], "doc": np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)), "gap": gap, "up": gap > 0})
cells = frame.groupby(["family", "doc"]).gap.agg(["sum", "count"]).reset_index()
rows = frame.groupby("family").agg(gap=("gap", "mean"), median=("gap", "median"), improved=("up", "mean"))
for family, c in cells.groupby("family"):
    m, n, g = c["sum"].sum() / c["count"].sum(), c["count"].sum(), len(c)
    rows.loc[family, "se"] = np.sqrt(g / (g - 1) * ((c["sum"] - m * c["count"]) ** 2).sum()) / n
done = time.perf_counter()
print(f"pandas: 40 groups                             {done - start:6.2f} s")
weights = np.random.default_rng(0).multinomial(len(ends), np.full(len(ends), 1 / len(ends)), 1000).astype(np.float64)
for family, c in cells.groupby("family"):
    w = weights[:, c["doc"]]
    means = w @ c["sum"].to_numpy() / (w @ c["count"].to_numpy())
    rows.loc[family, ["low", "high"]] = np.quantile(means, [0.025, 0.975])
print(f"pandas: 40 groups, 1000 resamples             {time.perf_counter() - start:6.2f} s")
