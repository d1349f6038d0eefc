"""Never returns from the call."""


def doubled(x):
    while True:
        pass
