"""Files beside the notebook whose names hold escape codes, line ends, a reversed order, and bytes that are no UTF-8."""

STUDENTS = ["escape_in_file", "line_in_file", "bytes_in_file", "link_in_words"]
NAMES = dict(zip(STUDENTS, ["\x1b[2Jclear\x1b[31m", "two\n[ERROR] lines", "caf\udce9", "\x1b]8;;mailto:x\x1blink"]))


def hand_in(folder):
    name = NAMES[folder.parent.name]
    if folder.parent.name == "link_in_words":
        (folder / name).symlink_to("/etc/passwd")
    else:
        (folder / name).write_text("x")
