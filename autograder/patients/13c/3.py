"""A block of sound overwrites what is still to be read: a loop that writes is fused with one that reads at other positions.

Two loop nests may be one if everything that passes between them passes within one iteration. The scheduler asks this for what the
second nest reads, and does not ask it for what the second nest writes. Modelled on pytorch issue 198270, in which the copy into an
argument is fused with a read of it in reversed order, and on pull request 162316, which keeps the dependencies of a write on
earlier reads.
"""

from rushlight.inductor.dependencies import extract_read_writes

AT = "inductor.scheduler.can_fuse"


def symptom(xp):
    """Play three blocks of sound with an echo: the block before comes back from its end to its beginning, at half the volume."""

    def play(block, sound, gain):
        echo = block.flip(0) * gain
        block.copy_(sound + echo)
        return block.clamp(-1, 1)

    compiled = xp.compile(play)
    block, sound = xp.zeros(6), xp.tensor([1.0, 0.5, 0.25, 0.0, -0.5, -1.0])
    played = [compiled(block, sound, 0.5) for _ in range(3)]
    return [part.tolist() for part in played], block.tolist()


def can_fuse(first, second):
    first_write = extract_read_writes(first)[1]
    second_reads, second_write = extract_read_writes(second)
    if first_write.buffer == second_write.buffer:
        return False
    return all(read == first_write for read in second_reads if read.buffer == first_write.buffer)
