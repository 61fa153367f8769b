"""The Python half of check_real.sh.

real.py text DIR: 100 kB of real text, prose (the GPL) and Python (the standard library).
real.py cut DATA TOKENIZER DIR: documents of up to 2000 tokens from a dataset, as lines of {"input_ids"}; the ids must be those
    that the tokenizers library gives.
real.py compare SCORES NLL.jsonl [LIMIT]: the greatest difference of losses; beyond LIMIT it is an error.
"""
import json
import os
import sys


def text(folder):
    os.makedirs(folder, exist_ok=True)
    library = os.path.dirname(os.__file__)
    left = 100_000
    for path in ["/usr/share/common-licenses/GPL-3"] + [os.path.join(library, n) for n in ("argparse.py", "ast.py", "abc.py")]:
        if left <= 0 or not os.path.exists(path):
            continue
        data = open(path, "rb").read()[:left]
        left -= len(data)
        name = os.path.basename(path)
        open(os.path.join(folder, name if "." in name else name + ".txt"), "wb").write(data)
    if left > 0:
        sys.exit(f"only {100_000 - left} bytes of text found")


def cut(data, tokenizer, folder):
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer
    columns = load_file(data)
    hf = Tokenizer.from_file(tokenizer)
    begin = 0
    names = sorted(os.listdir(folder))
    assert len(names) == len(columns["doc_token_end"])
    for name, end in zip(names, columns["doc_token_end"].tolist()):
        ids = columns["token_id"][begin:end].tolist()
        begin = end
        right = hf.encode(open(os.path.join(folder, name), newline="").read(), add_special_tokens=False).ids
        assert ids == right, name + ": other token ids than the tokenizers library's"
        for i in range(0, len(ids), 2000):
            print(json.dumps({"input_ids": ids[i:i + 2000]}))


def compare(scores, lines, limit=None):
    from safetensors.numpy import load_file
    nll = load_file(scores)["nll"].astype(float).tolist()
    right = [x for line in open(lines) for x in json.loads(line)["nll"]]
    assert len(nll) == len(right), f"{len(nll)} losses, {len(right)} expected"
    differences = []
    for a, b in zip(nll, right):
        assert (a != a) == (b is None), "a loss that one has and the other not"
        if b is not None:
            differences.append(abs(a - b))
    worst, mean = max(differences), sum(differences) / len(differences)
    print(f"{os.path.basename(scores)}: {len(differences)} losses, worst difference {worst:.2e}, mean {mean:.2e} nats")
    if limit is not None and not worst <= float(limit):
        sys.exit(f"beyond {limit}")


if __name__ == "__main__":
    {"text": text, "cut": cut, "compare": compare}[sys.argv[1]](*sys.argv[2:])
