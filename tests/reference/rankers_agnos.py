"""The loss of AgnoS-S, numeric derivatives, Adam and the intrinsic dimension, in plain loops."""

from __future__ import annotations

import math


def loss(parameters, examples, features, penalty):
    """Loss of some examples: ``features`` has the feature of each column."""
    n, columns = len(examples), range(len(features))
    squares = [0.0] * (max(features) + 1)
    for x in examples:
        scaled = [x[c] * parameters["slack"][features[c]] for c in columns]
        hidden = []
        for h in range(len(parameters["encoder_bias"])):
            total = parameters["encoder_bias"][h] + sum(scaled[c] * parameters["encoder"][c][h] for c in columns)
            hidden.append(math.tanh(total))
        for c in columns:
            out = parameters["decoder_bias"][c] + sum(v * parameters["decoder"][h][c] for h, v in enumerate(hidden))
            squares[features[c]] += (out - x[c]) ** 2 / n
    return sum(math.sqrt(s) for s in squares) + penalty * sum(abs(a) for a in parameters["slack"])


def derivatives(parameters, name, examples, features, penalty, width=1e-6):
    """Central differences of the loss by all entries of one parameter, in their order."""
    values, found = parameters[name], []
    for place in range(values.size):
        sides = []
        for sign in (1, -1):
            moved = values.copy()
            moved.flat[place] += sign * width
            sides.append(loss({**parameters, name: moved}, examples, features, penalty))
        found.append((sides[0] - sides[1]) / (2 * width))
    return found


def adam(value, gradients, rate):
    """A number after steps with the given derivatives, as in Algorithm 1 of Kingma and Ba."""
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        # epsilon hat of the paper's more efficient form
        step = rate * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        value -= step * m / (math.sqrt(v) + 1e-8)
    return value


def dimension(points):
    """Two nearest neighbours: slope of -log(1 - i / n) by log mu, without the largest tenth."""
    ratios = []
    for i, p in enumerate(points):
        near = sorted(math.dist(p, q) for j, q in enumerate(points) if j != i)
        if near[0] > 0:
            ratios.append(near[1] / near[0])
    ratios.sort()
    pairs = [(math.log(r), -math.log(1 - i / len(ratios))) for i, r in enumerate(ratios[: int(len(ratios) * 0.9)], 1)]
    square = sum(x * x for x, _ in pairs)
    slope = sum(x * y for x, y in pairs) / square if square else 1.0
    return min(max(round(slope), 1), len(points), len(points[0]))
