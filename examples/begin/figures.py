"""Computes figures of `scorebox agree copied --with /label` in other programs (SciPy, scikit-learn and krippendorff; errors in plain
Python), from the scores that scorebox stored.

    scorebox run suite.toml cases.jsonl
    scorebox scores --scorer copied --limit 0 --format jsonl | python3 figures.py
"""

import json
import math
import sys
from pathlib import Path

import krippendorff
from scipy import stats
from sklearn import metrics

labels = {}
for line in Path(__file__).with_name("cases.jsonl").read_text().splitlines():
    case = json.loads(line)
    labels[case["id"]] = case["metadata"]["label"]
rows = [json.loads(line) for line in sys.stdin]
pairs = [(row["score"], labels[row["caseId"]]) for row in rows if labels[row["caseId"]] is not None]
scores, labels = zip(*pairs)
errors = [score - label for score, label in pairs]
passes = [int(score >= 0.5) for score in scores]

figures = {
    "accuracy": metrics.accuracy_score(labels, passes),
    "precision": metrics.precision_score(labels, passes),
    "recall": metrics.recall_score(labels, passes),
    "f1": metrics.f1_score(labels, passes),
    "balancedAccuracy": metrics.balanced_accuracy_score(labels, passes),
    "kappa": metrics.cohen_kappa_score(labels, passes),
    "alpha": krippendorff.alpha([labels, passes], level_of_measurement="nominal"),
    "rocAuc": metrics.roc_auc_score(labels, scores),
    "brier": metrics.brier_score_loss(labels, scores),
    "pearson": stats.pearsonr(scores, labels).statistic,
    "spearman": stats.spearmanr(scores, labels).statistic,
    "kendall": stats.kendalltau(scores, labels).statistic,
    "alphaInterval": krippendorff.alpha([scores, labels], level_of_measurement="interval"),
    "meanError": math.fsum(errors) / len(errors),
    "meanAbsoluteError": math.fsum(abs(error) for error in errors) / len(errors),
    "rootMeanSquareError": math.sqrt(math.fsum(error * error for error in errors) / len(errors)),
}
print(json.dumps({name: float(figure) for name, figure in figures.items()}, indent=4))
