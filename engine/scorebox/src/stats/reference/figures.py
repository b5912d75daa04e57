"""Asks SciPy, statsmodels, scikit-learn and krippendorff for the figures that the room `stats` computes too, and writes them with
the numbers that they are of to figures.json, which the room's tests compare.

    python -m venv venv && venv/bin/pip install scipy statsmodels scikit-learn krippendorff
    venv/bin/python figures.py
"""

import itertools
import json
import math
from importlib.metadata import version
from pathlib import Path

import krippendorff
import numpy as np
import statsmodels.api as sm
from scipy import stats
from sklearn import metrics
from sklearn.calibration import calibration_curve
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

random = np.random.default_rng(17)


def numbers(values):
    return [float(value) for value in values]


def round_some(values, digits):
    return numbers(np.round(values, digits))


def quantiles():
    normal = [[p, float(stats.norm.ppf(p))] for p in (1e-9, 0.025, 0.2, 0.5, 0.8, 0.975, 0.999)]
    below = [[x, float(stats.norm.cdf(x))] for x in (-6.0, -1.96, -0.3, 0.0, 0.7, 4.0)]
    freedom = (1, 2, 3, 5, 9.5, 29, 30, 99, 399, 12345.6, 1e6)
    student = [[p, df, float(stats.t.ppf(p, df))] for df in freedom for p in (0.9, 0.975, 0.995)]
    beyond = [[t, df, float(2 * stats.t.sf(abs(t), df))] for df in freedom for t in (0.1, -1.7, 2.5, 6.0)]
    coin = [
        [k, n, float(stats.binomtest(k, n, 0.5).pvalue)]
        for k, n in ((0, 1), (3, 5), (1, 9), (10, 20), (4, 30), (210, 400), (480, 1000), (49_500, 100_000))
    ]
    return {"normal": normal, "normalBelow": below, "student": student, "studentBeyond": beyond, "coin": coin}


def mean_intervals():
    made = []
    for scores in (
        round_some(random.random(30), 3),
        round_some(random.beta(5, 2, 200), 4),
        round_some(random.normal(40, 12, 64), 2),
    ):
        low, high = stats.t.interval(0.95, len(scores) - 1, np.mean(scores), stats.sem(scores))
        made.append({"cases": [[score] for score in scores], "low": float(low), "high": float(high), "method": "student-t"})
    for cases, most in ((40, 4), (31, 6), (120, 2)):
        grouped = []
        for _ in range(cases):
            level = random.random()
            attempts = int(random.integers(1, most + 1))
            grouped.append(round_some(np.clip(random.normal(level, 0.1, attempts), 0, 1), 3))
        scores = [score for group in grouped for score in group]
        case_of = [place for place, group in enumerate(grouped) for _ in group]
        model = sm.OLS(scores, np.ones(len(scores)))
        fit = model.fit(cov_type="cluster", cov_kwds={"groups": case_of, "df_correction": True}, use_t=True)
        low, high = fit.conf_int(0.05)[0]
        made.append(
            {
                "cases": grouped,
                "low": float(low),
                "high": float(high),
                "standardError": float(fit.bse[0]),
                "method": "clustered-t",
            }
        )
    for ones, cases in ((0, 5), (3, 7), (168, 400), (50, 50)):
        low, high = proportion_confint(ones, cases, 0.05, "wilson")
        scores = [[1.0]] * ones + [[0.0]] * (cases - ones)
        made.append({"cases": scores, "low": float(low), "high": float(high), "method": "wilson"})
    return made


def bootstraps():
    """The percentile interval of SciPy, with Hesterberg's percentiles in place of 2.5 and 97.5, from a million resamples: the
    tests allow for what chance does to ten thousand."""
    made = []
    for scores in ([0.2, 0.9, 0.4, 0.65, 0.1], round_some(random.beta(4, 1, 12), 3), round_some(random.random(29), 3)):
        n = len(scores)
        tail = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
        answer = stats.bootstrap(
            (np.array(scores),),
            np.mean,
            confidence_level=1 - 2 * tail,
            n_resamples=1_000_000,
            method="percentile",
            batch=10_000,
            rng=np.random.default_rng(1),
        )
        interval = answer.confidence_interval
        made.append({"scores": scores, "low": float(interval.low), "high": float(interval.high), "error": float(answer.standard_error)})
    return made


def permutations():
    """SciPy counts all ways if `n_resamples` allows; the others are drawn."""
    made = []
    for differences, exact in (
        ([0.1, 0.25, -0.05, 0.3, 0.0, 0.2], True),
        (round_some(random.normal(0.1, 0.3, 14), 2), True),
        ([1.0] * 9 + [-1.0] * 3 + [0.0] * 8, True),
        (round_some(random.normal(0.05, 0.25, 60), 3), False),
        (round_some(random.normal(0.0, 0.25, 150), 3), False),
    ):
        answer = stats.permutation_test(
            (np.array(differences), np.zeros(len(differences))),
            lambda a, b, axis: np.mean(a - b, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf if exact and len(differences) <= 14 else 400_000,
            batch=5_000,
            rng=np.random.default_rng(2),
        )
        p = float(answer.pvalue)
        if exact and len(differences) > 14:
            # Differences of one size: the test is the sign test.
            up = sum(difference > 0 for difference in differences)
            p = float(stats.binomtest(up, sum(difference != 0 for difference in differences)).pvalue)
        made.append({"differences": differences, "p": p, "exact": exact})
    return made


def student_test():
    differences = round_some(random.normal(0.02, 0.3, 80), 3)
    answer = stats.ttest_1samp(differences, 0.0)
    deviation = float(np.std(differences, ddof=1))
    return {"differences": differences, "p": float(answer.pvalue), "stddev": deviation, "effect": float(np.mean(differences)) / deviation}


def counted():
    made = []
    for table in ([[30, 12], [25, 33]], [[5, 0], [6, 1]], [[100, 40], [41, 19]], [[3, 0], [0, 4]]):
        made.append({"table": table, "p": float(mcnemar(table, exact=True).pvalue)})
    return made


def corrected():
    made = []
    for p in ([0.01, 0.04, 0.03, 0.005], [0.5, 0.6], [0.001, 0.001, 0.2, 0.9, 0.03, 0.04], [0.02]):
        made.append({"p": p, "corrected": numbers(multipletests(p, method="holm")[1])})
    return made


def sizes():
    made = []
    for stddev, difference in ((0.4, 0.1), (0.5, 0.02), (1.0, 0.9), (0.3, 0.3), (12.0, 5.0)):
        cases = TTestPower().solve_power(effect_size=difference / stddev, alpha=0.05, power=0.8)
        made.append({"stddev": stddev, "difference": difference, "cases": float(cases)})
    for stddev, cases in ((0.4, 10), (0.4, 50), (0.5, 400)):
        effect = TTestPower().solve_power(nobs=cases, alpha=0.05, power=0.8)
        made.append({"stddev": stddev, "cases": cases, "smallest": float(effect * stddev)})
    return made


def sign_power(share, difference, error, cases):
    """How often the two-sided sign test finds a difference that is there: of so many cases a binomial number changes, a binomial
    number of these against the difference, and SciPy's test says of which numbers p is below the error."""
    against = (share - difference) / 2 / share
    power = 0.0
    for changes in range(1, cases + 1):
        most = -1
        while most + 1 <= changes / 2 and stats.binomtest(most + 1, changes, 0.5).pvalue < error:
            most += 1
        power += stats.binom.pmf(changes, cases, share) * stats.binom.cdf(most, changes, against)
    return float(power)


def sign_powers():
    """Some powers, and the fewest cases with a power of 0.8."""
    powers = [
        {"share": share, "difference": difference, "tests": tests, "cases": cases, "power": sign_power(share, difference, 0.05 / tests, cases)}
        for share, difference, tests, cases in ((0.6, 0.4, 1, 24), (0.36, 0.12, 4, 90), (0.05, 0.05, 1, 157), (1.0, 0.5, 1, 40), (0.2, 0.1, 7, 150))
    ]
    needed = []
    for share, difference, tests in ((0.6, 0.4, 1), (0.35, 0.25, 1), (0.36, 0.12, 3), (0.25, 0.25, 2), (1.0, 0.5, 1), (0.1975, 0.1, 1)):
        cases = 1
        while sign_power(share, difference, 0.05 / tests, cases) < 0.8:
            cases += 1
        needed.append({"share": share, "difference": difference, "tests": tests, "cases": cases})
    return {"powers": powers, "needed": needed}


def labelled(cases, noise):
    """Scores that go with labels, some of them equal. None is on the edge of two bins, which scikit-learn counts to the lower one."""
    labels = (random.random(cases) < 0.4).astype(int)
    scores = np.clip(0.5 * labels + 0.25 + random.normal(0, noise, cases), 0, 1)
    hundredths = np.round(scores * 100)
    hundredths += (hundredths % 10 == 0) & (hundredths > 0) & (hundredths < 100)
    return round_some(hundredths / 100, 2), [int(label) for label in labels]


def youden(scores, labels, chosen):
    best = None
    scores, labels = np.array(scores)[chosen], np.array(labels)[chosen]
    for threshold in sorted(set(scores), reverse=True):
        passes = scores >= threshold
        index = int((passes & (labels == 1)).sum()) * int((labels == 0).sum()) - int((passes & (labels == 0)).sum()) * int((labels == 1).sum())
        if best is None or index > best[0]:
            best = (index, float(threshold))
    return best[1]


def against_labels():
    made = []
    for cases, noise in ((12, 0.2), (150, 0.25), (200, 0.6)):
        scores, labels = labelled(cases, noise)
        passes = [int(score >= 0.5) for score in scores]
        tn, fp, fn, tp = metrics.confusion_matrix(labels, passes, labels=[0, 1]).ravel()
        rates, means = calibration_curve(labels, scores, n_bins=10, strategy="uniform")
        folds = [place % 5 for place in range(cases)]
        of_folds = [youden(scores, labels, np.array(folds) != fold) for fold in range(5)]
        held_out = [int(score >= of_folds[fold]) for score, fold in zip(scores, folds)]
        # scikit-learn's own curve has the threshold among those of the highest index.
        fpr, tpr, thresholds = metrics.roc_curve(labels, scores, drop_intermediate=False)
        best = youden(scores, labels, np.full(cases, True))
        assert math.isclose((tpr - fpr).max(), (tpr - fpr)[list(thresholds).index(best)])
        made.append(
            {
                "scores": scores,
                "labels": labels,
                "confusion": [int(tp), int(fp), int(fn), int(tn)],
                "accuracy": float(metrics.accuracy_score(labels, passes)),
                "precision": float(metrics.precision_score(labels, passes)),
                "recall": float(metrics.recall_score(labels, passes)),
                "f1": float(metrics.f1_score(labels, passes)),
                "balancedAccuracy": float(metrics.balanced_accuracy_score(labels, passes)),
                "kappa": float(metrics.cohen_kappa_score(labels, passes)),
                "alphaNominal": float(krippendorff.alpha([labels, passes], level_of_measurement="nominal")),
                "auc": float(metrics.roc_auc_score(labels, scores)),
                "brier": float(metrics.brier_score_loss(labels, scores)),
                "bins": [[float(mean), float(rate)] for mean, rate in zip(means, rates)],
                "folds": folds,
                "threshold": best,
                "thresholdsOfFolds": of_folds,
                "heldOut": [int(n) for n in metrics.confusion_matrix(labels, held_out, labels=[1, 0]).ravel()],
            }
        )
    return made


def ratings():
    made = []
    for cases, categories in ((40, 3), (200, 6)):
        first = random.integers(0, categories, cases)
        second = np.clip(first + random.integers(-1, 2, cases), 0, categories - 1)
        pair = [[int(a), int(b)] for a, b in zip(first, second)]
        # The values are those of krippendorff's ordinal metric: every category came.
        assert set(first) | set(second) == set(range(categories))
        made.append(
            {
                "pairs": pair,
                "categories": categories,
                "kappa": float(metrics.cohen_kappa_score(first, second)),
                "kappaLinear": float(metrics.cohen_kappa_score(first, second, weights="linear")),
                "kappaQuadratic": float(metrics.cohen_kappa_score(first, second, weights="quadratic")),
                "alphaNominal": float(krippendorff.alpha([first, second], level_of_measurement="nominal")),
                "alphaOrdinal": float(krippendorff.alpha([first, second], level_of_measurement="ordinal")),
            }
        )
    return made


def correlations():
    made = []
    for cases, digits in ((5, 3), (50, 1), (300, 2)):
        first = round_some(random.random(cases), digits)
        second = round_some(np.array(first) * 0.6 + random.normal(0, 0.3, cases), digits)
        pearson = stats.pearsonr(first, second)
        interval = pearson.confidence_interval(0.95)
        made.append(
            {
                "pairs": [list(pair) for pair in zip(first, second)],
                "pearson": float(pearson.statistic),
                "pearsonInterval": [float(interval.low), float(interval.high)],
                "spearman": float(stats.spearmanr(first, second).statistic),
                "spearmanP": float(stats.spearmanr(first, second).pvalue),
                "kendall": float(stats.kendalltau(first, second, variant="b").statistic),
                "alpha": float(krippendorff.alpha([first, second], level_of_measurement="interval")),
            }
        )
    return made


def biases():
    made = []
    for one, other, shift in ((8, 30, 0.3), (50, 70, 0.0), (2, 5, 0.1)):
        group = round_some(random.normal(shift, 0.2, one), 3)
        others = round_some(random.normal(0, 0.4, other), 3)
        answer = stats.ttest_ind(group, others, equal_var=False)
        interval = answer.confidence_interval(0.95)
        made.append({"group": group, "others": others, "p": float(answer.pvalue), "low": float(interval.low), "high": float(interval.high)})
    return made


# SciPy compares no infinite numbers.
INFINITE = 1e9


def welch_statistic(group, others, axis=-1):
    """The absolute difference of means in standard errors; without variance, any difference is infinitely many."""
    group, others = np.asarray(group), np.asarray(others)
    difference = np.abs(group.mean(axis=axis) - others.mean(axis=axis))
    variance = group.var(axis=axis, ddof=1) / group.shape[axis] + others.var(axis=axis, ddof=1) / others.shape[axis]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(variance)
    t = np.where(variance < 1e-14, INFINITE, t)
    return np.where(difference < 1e-12, 0.0, np.round(t, 9))


def interval_of(ways, difference, error):
    """The differences that the permutations do not reject: within the highest t that 5 % of the ways reach."""
    ways = np.sort(ways)[::-1]
    t = ways[math.ceil(0.05 * len(ways) - 1e-9) - 1]
    if t == INFINITE or error == 0.0:
        return None
    return [float(difference - t * error), float(difference + t * error)]


def regrouped():
    """Permutation tests of the difference of two groups in standard errors. SciPy counts all ways if `n_resamples` allows; the
    others are drawn."""
    random = np.random.default_rng(23)
    made = []
    for group, others, exact in (
        (round_some(random.normal(0.6, 0.3, 6), 2), round_some(random.normal(0, 0.2, 9), 2), True),
        (round_some(random.normal(0.1, 0.3, 2), 2), round_some(random.normal(0, 0.2, 30), 2), True),
        ([1.0, 1.0, 0.0, 1.0, -1.0, 1.0], [0.0] * 7 + [1.0, -1.0], True),
        ([1.0] * 4, [0.0] * 8, True),
        (round_some(random.normal(0.2, 0.5, 12), 3), round_some(random.normal(0, 0.2, 25), 3), False),
        (round_some(random.normal(0.1, 0.2, 40), 3), round_some(random.normal(0, 0.3, 60), 3), False),
    ):
        answer = stats.permutation_test(
            (np.array(group), np.array(others)),
            welch_statistic,
            permutation_type="independent",
            alternative="greater",
            vectorized=True,
            n_resamples=np.inf if exact else 200_000,
            batch=5_000,
            rng=np.random.default_rng(4),
        )
        error = math.sqrt(np.var(group, ddof=1) / len(group) + np.var(others, ddof=1) / len(others))
        varies = len(set(group)) > 1 and len(set(others)) > 1
        interval = interval_of(answer.null_distribution, np.mean(group) - np.mean(others), error if varies else 0.0)
        made.append({"group": group, "others": others, "p": float(answer.pvalue), "interval": interval, "exact": exact})
    return made


def regrouped_pairs():
    """Cases on both sides, whose signs are thrown, and cases on one side, which are put into groups at random: all ways, one by one.
    Both differences together weigh n/2 and k l / (k + l)."""
    random = np.random.default_rng(29)
    made = []
    for count, k, l in ((9, 0, 0), (6, 3, 4), (5, 4, 2)):
        pairs = round_some(random.normal(0.3, 0.3, count), 2)
        group, others = round_some(random.normal(0.3, 0.3, k), 2), round_some(random.normal(0, 0.3, l), 2)
        weights = (count / 2, k * l / (k + l) if k else 0.0)
        share = weights[0] / sum(weights)

        def standing(pairs, group, others):
            difference, variance = share * np.mean(pairs), share**2 * np.var(pairs, ddof=1) / count
            if k:
                difference += (1 - share) * (np.mean(group) - np.mean(others))
                variance += (1 - share) ** 2 * (np.var(group, ddof=1) / k + np.var(others, ddof=1) / l)
            return difference, math.sqrt(variance)

        ways, single = [], group + others
        for chosen in itertools.combinations(range(k + l), k):
            one = [single[place] for place in chosen]
            other = [single[place] for place in range(k + l) if place not in chosen]
            for signs in itertools.product((1, -1), repeat=count):
                difference, error = standing(np.multiply(pairs, signs), one, other)
                ways.append(round(abs(difference) / error, 9))
        difference, error = standing(pairs, group, others)
        p = np.mean(np.array(ways) >= round(abs(difference) / error, 9))
        interval = interval_of(np.array(ways), difference, error)
        made.append({"pairs": pairs, "group": group, "others": others, "difference": float(difference), "p": float(p), "interval": interval})
    return made


def rank_trends():
    """Permutation tests of Spearman's rho. SciPy counts all orders if `n_resamples` allows; the others are drawn."""
    random = np.random.default_rng(31)
    made = []
    for numbers, errors, exact in (
        ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], True),
        (round_some(random.random(7), 2), round_some(random.random(7), 2), True),
        ([1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0], [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0], True),
        (round_some(np.arange(40), 0), round_some(np.arange(40) * 0.02 + random.random(40), 2), False),
        (round_some(np.arange(150), 0), [1.0 if place in (147, 149) else 0.0 for place in range(150)], False),
    ):
        ranks = stats.rankdata(numbers)
        answer = stats.permutation_test(
            (stats.rankdata(errors),),
            lambda errors, axis: np.round(np.abs(((errors - errors.mean()) * (ranks - ranks.mean())).sum(axis=axis)), 9),
            permutation_type="pairings",
            alternative="greater",
            vectorized=True,
            n_resamples=np.inf if exact else 200_000,
            batch=5_000,
            rng=np.random.default_rng(5),
        )
        rho = float(stats.spearmanr(numbers, errors).statistic)
        made.append({"numbers": numbers, "errors": errors, "rho": rho, "p": float(answer.pvalue), "exact": exact})
    return made


def drawn():
    """Percentile intervals of SciPy, of pairs that are drawn together, with Hesterberg's percentiles as above."""
    figures = {
        "kappa": lambda scores, labels: metrics.cohen_kappa_score(labels, scores >= 0.5),
        "auc": lambda scores, labels: metrics.roc_auc_score(labels, scores),
        "spearman": lambda scores, labels: stats.spearmanr(scores, labels).statistic,
        "kendall": lambda scores, labels: stats.kendalltau(scores, labels).statistic,
    }
    made = []
    for cases, noise in ((40, 0.2), (250, 0.35)):
        scores, labels = labelled(cases, noise)
        tail = stats.norm.cdf(-math.sqrt(cases / (cases - 1)) * stats.t.ppf(0.975, cases - 1))
        intervals = {}
        for name, figure in figures.items():
            answer = stats.bootstrap(
                (np.array(scores), np.array(labels)),
                figure,
                paired=True,
                vectorized=False,
                confidence_level=1 - 2 * tail,
                n_resamples=20_000,
                method="percentile",
                rng=np.random.default_rng(3),
            )
            interval = answer.confidence_interval
            intervals[name] = [float(interval.low), float(interval.high), float(answer.standard_error)]
        made.append({"scores": scores, "labels": labels, **intervals})
    return made


PACKAGES = ("numpy", "scipy", "statsmodels", "scikit-learn", "krippendorff")
figures = {
    "madeWith": {name: version(name) for name in PACKAGES},
    "quantiles": quantiles(),
    "meanIntervals": mean_intervals(),
    "bootstraps": bootstraps(),
    "permutations": permutations(),
    "studentTest": student_test(),
    "counted": counted(),
    "corrected": corrected(),
    "sizes": sizes(),
    "signPowers": sign_powers(),
    "againstLabels": against_labels(),
    "ratings": ratings(),
    "correlations": correlations(),
    "biases": biases(),
    "regrouped": regrouped(),
    "regroupedPairs": regrouped_pairs(),
    "rankTrends": rank_trends(),
    "drawn": drawn(),
}
lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in figures.items())
Path(__file__).with_name("figures.json").write_text("{\n" + lines + "\n}\n")
