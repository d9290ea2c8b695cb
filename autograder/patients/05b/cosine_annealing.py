"""Wrong bodies of `cosine_annealing`, for lab 05b: what cases of a student must catch."""

import math

AT = "optim.lr_scheduler.cosine_annealing"
MOST = 4
CASE = {"lr": "float", "base_lr": "float", "last_epoch": "int", "T_max": "int", "eta_min": "float"}


def cosine_annealing(lr, base_lr, last_epoch, T_max, eta_min):
    if (last_epoch - 1 - T_max) % (2 * T_max) == 0:
        return lr + (base_lr - eta_min) * (1 - math.cos(math.pi / T_max)) / 2
    now, before = (1 + math.cos(math.pi * n / T_max) for n in (last_epoch, last_epoch - 1))
    return now / before * (lr - eta_min) + eta_min


WRONG = {
    "the minima after the first one": [("(last_epoch - 1 - T_max) % (2 * T_max) == 0", "last_epoch - 1 == T_max")],
    "the step after a maximum": [
        ("(last_epoch - 1 - T_max) % (2 * T_max) == 0", "last_epoch > 1 and (last_epoch - 1) % T_max == 0")
    ],
    "the way up": [("now / before *", "min(now / before, 1) *")],
    "a rate that something else has changed": [
        ("now / before * (lr - eta_min)", "now / 2 * (base_lr - eta_min)"),
    ],
    "a rate that something else has changed, at a minimum": [("return lr +", "return eta_min +")],
    "a rate below the least one": [("(lr - eta_min)", "max(lr - eta_min, 0)")],
    "a rate above the first one": [
        ("now / before * (lr - eta_min) + eta_min", "min(now / before * (lr - eta_min) + eta_min, base_lr)")
    ],
    "a least rate that is not 0, after a minimum": [("(base_lr - eta_min)", "base_lr")],
    "schedules that begin below the least rate": [("(base_lr - eta_min)", "abs(base_lr - eta_min)")],
    "long schedules": [
        ("(last_epoch - 1 - T_max) % (2 * T_max) == 0", "1 + math.cos(math.pi * (last_epoch - 1) / T_max) < 1e-6")
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"lr": 1.0, "base_lr": 1.0, "last_epoch": 1, "T_max": 2, "eta_min": 0.0},
    {"lr": 0.1, "base_lr": 0.1, "last_epoch": 1, "T_max": 10, "eta_min": 0.01},
    {"lr": 0.012202456766718093, "base_lr": 0.1, "last_epoch": 10, "T_max": 10, "eta_min": 0.01},
]
