"""Files of hundreds of megabytes, and thousands of small ones, beside the notebook."""


def hand_in(folder):
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(900 << 20)
    (folder / "many").mkdir()
    for number in range(3000):
        (folder / "many" / str(number)).touch()
