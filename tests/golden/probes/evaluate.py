#!/usr/bin/env python3
"""What the log-probabilities in this folder say, by NumPy: python evaluate.py > evaluated.jsonl

A line per model, probe, distance (null: all) and cell ("*": all): items scored, mean margin and its standard error
(items as the units), accuracy (ties count half) and Wilson's interval, loss of the answer. Knowledge and identity of
the two-choice items with recurring options: means of log p(answer) - log p(other) and log p(first) - log p(second).
"""
import itertools, json, os
import numpy as np
from statsmodels.stats.proportion import proportion_confint

here = os.path.dirname(os.path.abspath(__file__))
read = lambda name: [json.loads(line) for line in open(os.path.join(here, name))]
items = {i["id"]: i for i in read("items.jsonl")}
lines = read("logp.jsonl")
for model in dict.fromkeys(l["model"] for l in lines):
    logp = {l["id"]: l["logp"] for l in lines if l["model"] == model}
    for probe in dict.fromkeys(i["probe"] for i in items.values()):
        of = [i for i in items.values() if i["probe"] == probe]
        for d, cell in itertools.product([None] + sorted({i["distance"] for i in of}), ["*"] + sorted({i["cell"] for i in of})):
            of_row = [i for i in of if d in (None, i["distance"]) and cell in ("*", i["cell"])]
            if not of_row: continue
            use = [(np.array(logp[i["id"]], float), i["answer"]) for i in of_row if None not in logp[i["id"]]]
            row = dict(model=model, probe=probe, distance=d, cell=cell, items=len(of_row), scored=len(use))
            if use:
                margin = np.array([l[a] - np.delete(l, a).max() for l, a in use])
                right = np.where(margin > 0, 1, np.where(margin == 0, .5, 0))
                low, high = proportion_confint(right.sum(), len(use), method="wilson")
                row.update(margin=margin.mean(), accuracy=right.mean(), wilson_low=low, wilson_high=high, loss=-np.mean([l[a] for l, a in use]))
                if len(use) > 1: row["margin_se"] = margin.std(ddof=1) / len(use) ** .5
                if probe == "pronoun" and cell == "*":
                    row.update(knowledge=margin.mean(), identity=np.mean([l[0] - l[1] for l, a in use]))
            print(json.dumps(row))
