# SPDX-License-Identifier: GPL-2.0
# Test what mctrace reads from: pipes, the kernel's raw files, and small files that decompress to large ones.
import os
import re
import resource
import shutil
import subprocess

import failing
import packets
import recordings
from harness import TIMEOUT, compare_lists

MEMORY = 200 << 20
SECONDS = 20
HEADER = recordings.struct.pack("<8sII", b"mctrace\n", 2, 40)


def chunk(kind, data, cpu=0, pos=0):
    data += bytes(-len(data) % 8)
    return recordings.CHUNK.pack(0x6b6e6863, kind, len(data), cpu, 65536, pos, 0) + data


def packed(kind, data, **where):
    data += bytes(-len(data) % 8)
    small = subprocess.run(["zstd", "-19", "-c"], input=data, stdout=subprocess.PIPE,
                           check=True).stdout
    return chunk(kind | 1 << 31, recordings.struct.pack("<Q", len(data)) + small, **where)


def limited(mctrace, arguments, stdin=subprocess.DEVNULL, env=None):
    """Run mctrace with little memory; return its status and messages."""
    ran = subprocess.run([mctrace.path, *arguments], stdin=stdin, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, timeout=SECONDS, check=False, env=env,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA,
                                                               (MEMORY, MEMORY)))
    return ran.returncode, ran.stderr.decode()


def check_small_files(mctrace, folder):
    """A small file that decompresses to much is an error with an offset, in little time and memory."""
    lines = b"0 T a\n" * (1 << 20)
    call = recordings.call_word(0xffffffff81000005, 0xffffffff81001234)
    words = recordings.struct.pack("<Q", call) * (1 << 17)
    names = chunk(2, b"ffffffff81000000 T a\nffffffff81001000 T b\n")
    info = chunk(1, b"mode graph\nbase %#x\n" % recordings.BASE)
    files = {
        "symbols": info + packed(2, lines) * 8,
        "words": info + names + b"".join(packed(3, words, pos=i << 20) for i in range(8)),
        "CPUs": info + names + b"".join(packed(3, words, cpu=i) for i in range(8)),
        "a large chunk": info + names + packed(3, words * 5),
    }
    wrong = []
    path = os.path.join(folder, "small.dat")
    for name, data in files.items():
        with open(path, "wb") as file:
            file.write(HEADER + data + chunk(4, b""))
        for command in (["profile"], ["graph", "a"], ["slow", "a"], ["diff", path],
                        ["export", "--to", "folded"]):
            status, says = limited(mctrace, [*command, path])
            if status != 1 or "damaged at offset" not in says:
                wrong.append("%s: %s: status %d, %s" % (name, command[0], status, says))
    return wrong


def check_many_chunks(mctrace, folder):
    """The time to read lines of information grows with their number only."""
    path = os.path.join(folder, "chunks.dat")
    line = chunk(1, b"mode graph\n".ljust(16, b"\0"))
    with open(path, "wb") as file:
        file.write(HEADER + line * 200000 + chunk(4, b""))
    status, says = limited(mctrace, ["profile", path])
    return [] if status == 1 and "is empty" in says else ["status %d, %s" % (status, says)]


def check_deep(mctrace, folder):
    """More calls that never return than a stack can hold: each command succeeds."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    for i in range(40000):
        rec.call(0, recordings.CORE[i % 7])
    path = os.path.join(folder, "deep.dat")
    rec.write(path)
    wrong = []
    for command in (["profile"], ["graph", "vfs_read"], ["diff", path], ["report", "--tree"]):
        status, says = limited(mctrace, [*command, path])
        if status or says:
            wrong.append("%s: status %d, %s" % (command[0], status, says))
    return wrong


def check_pipes(mctrace, folder):
    """The beginning of a pipe is checked before the pipe is copied."""
    path = os.path.join(folder, "pipe.dat")
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    rec.call(0, "vfs_read")
    rec.leave(0)
    rec.write(path)
    wrong = []
    nowhere = dict(os.environ, TMPDIR="/nowhere")
    for name, data, status, says in (
            ("a recording", open(path, "rb").read(), 0, ""),
            ("nothing", b"", 1, "standard input is empty"),
            ("a part of the header", b"mctrac", 1, "is no recording of mctrace"),
            ("another version", HEADER[:8] + b"\7" + HEADER[9:], 1, "of version 7")):
        reader, writer = os.pipe()
        os.write(writer, data)
        os.close(writer)
        # A bad recording is not copied: a missing folder for copies is no error.
        got = limited(mctrace, ["report", "-"], reader, None if not status else nowhere)
        os.close(reader)
        if got[0] != status or says not in got[1]:
            wrong.append("%s: status %d, %s" % (name, *got))
    with open("/dev/zero", "rb") as zeroes:
        got = limited(mctrace, ["report", "-"], zeroes)
    if got[0] != 1 or "is no recording of mctrace" not in got[1]:
        wrong.append("/dev/zero: status %d, %s" % got)
    return wrong


# --- the kernel's raw files ---

RING = 1 << 16
NOTES = RING // 4


def short(first=0, events=700):
    rec = recordings.simulate(events, 5, cpus=1, notes=NOTES, first=first, gaps=False, exits=False,
                              before=False)
    assert sum(len(words) for ring in rec.rings for _, words in ring.runs) * 8 < RING
    return rec


def image_of(rec):
    """Each ring in the format of last_boot/raw and of a mapping of per_cpu/cpuN/raw."""
    image = b""
    for ring in rec.rings:
        words = bytearray(RING)
        pos = 0
        for pos, run in ring.runs:
            for word in run:
                flip = 1 << 63 if pos & RING else 0
                recordings.struct.pack_into("<Q", words, pos % RING, word ^ flip)
                pos = pos + 8 & recordings.POSITION_MASK
        image += recordings.struct.pack(
            "<4IQ2I6Q", recordings.MAGIC, recordings.VERSION, 4096, len(image) // (4096 + RING), RING, NOTES, 1,
            ring.start, 0, ring.start, recordings.BASE, pos, 0).ljust(4096, b"\0")
        image += words
    return image


def put(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


RAW_COMMANDS = [("report", "--json"), ("report", "--tree"), ("profile",), ("graph", "vfs_read"),
                ("latency", "vfs_read"), ("slow", "vfs_read"), ("flame", "--output=-"),
                ("export", "--to", "folded"), ("export", "--to", "json"), ("report", "--json", "-")]


def check_raw(mctrace, folder):
    """Raw rings and bare words give the same output as a recording of them, in each command."""
    wrong = []
    for name, first in (("even", 0), ("odd", RING + 3 * NOTES)):
        rec = short(first)
        dat = os.path.join(folder, "of-raw.dat")
        rec.write(dat)
        names = put(folder, "names", rec.functions.kallsyms().encode())
        words = recordings.struct.pack("<3Q", *recordings.stream_words(0)) + \
            b"".join(run.tobytes() for _, run in rec.rings[0].runs)
        for kind, data in (("rings", image_of(rec)), ("words", words)):
            path = put(folder, "raw", data)
            for command in RAW_COMMANDS:
                pipe = command[-1] == "-"
                wanted = mctrace.text(*command[:len(command) - pipe], dat)
                with open(path, "rb") as stdin:
                    got = subprocess.run(
                        [mctrace.path, *command, "--kallsyms", names, *([] if pipe else [path])],
                        stdin=stdin, capture_output=True, check=False)
                if got.returncode or got.stderr or \
                   got.stdout.decode().replace(path, dat) != wanted:
                    wrong.append("%s %s: %s: status %d, %s" % (
                        name, kind, " ".join(command), got.returncode,
                        got.stderr.decode() or "another answer"))
    return wrong


# --- each source in each command ---

FILE = "standard input"         # the name of each source, as mctrace prints it for a pipe
BEGAN = 1700000000
READ_ALL = [["report"], ["report", "--tree"], ["report", "--json"], ["profile"], ["profile", "--callers"],
            ["graph", "vfs_read"], ["latency", "vfs_read"], ["slow", "vfs_read"], ["flame", "-o", "out"],
            ["diff", FILE, "other"], ["diff", "--json", FILE, "other"],
            *(["export", "--to", form, "-o", "out"] for form in
              ("trace.dat", "uftrace", "perfetto", "speedscope", "folded", "pprof", "ctf", "json"))]
READ_MARKS = [["why", "--from", FILE], ["why", "--json", "--from", FILE]]
READ_OBJECTS = [[command, *options, "--rules", packets.RULES + "/skb.rules", "--input", FILE]
                for command in ("packet", "object") for options in ([], ["--json"])]
REFUSED = [     # the kind of source, the command, its message
    ("recording", ["export", "--to", "mctrace", "-o", "out"], "is a recording already: copy it"),
    ("compressed", ["export", "--to", "mctrace", "-o", "out"], "is a recording already: copy it"),
    ("recording", ["report", "--kallsyms", "names"], "has its own names: --kallsyms is for the kernel's raw files"),
    ("rings", ["diff", "--kallsyms", "names", FILE, "../recording/other"],
     "has its own names: --kallsyms is for the kernel's raw files"),
    ("log", ["profile"], "is no recording of mctrace: it does not begin as one does (offset 0)"),
    ("log", ["diff", FILE, "other"], "is no recording of mctrace: it does not begin as one does (offset 0)"),
    ("nothing", ["profile"], "is a folder, no recording"),
]


def marked():
    """A recording with the marks of an error, for why."""
    kernel = failing.Kernel()
    kernel.call("ksys_read", "vfs_read")
    kernel.returns(21, 2)
    return kernel.rec


def in_quarters(rec):
    """Repeat the sync words of a recording without events as often as the kernel's ring does."""
    for ring in rec.rings:
        ring.notes = NOTES
    return rec


def put_sources(mctrace, folder, recs, zstd):
    """Make a folder for each kind of source, with these recordings by their names. Return the kinds."""
    kinds = {}
    for name, rec in recs.items():
        path = put(folder, "recording/" + name, b"")
        rec.write(path)
        kallsyms = rec.functions.kallsyms().encode()
        image = image_of(rec)
        kinds["recording"] = [text_of_bytes(path)]
        if zstd:
            kinds["compressed"] = [recordings.compressed(kinds["recording"][0])]
        kinds["rings"] = [image, "--kallsyms", "names"]
        kinds["words"] = [recordings.struct.pack("<3Q", *recordings.stream_words(0)) + b"".join(
            run.tobytes() for _, run in rec.rings[0].runs), "--kallsyms", "names"]
        kinds["folder"] = [None, "--kallsyms", "names"]
        for kind, (data, *_) in kinds.items():
            put(folder, kind + "/names", kallsyms)
            if data is not None:
                put(folder, kind + "/" + name, data)
        put(folder, "folder/%s/per_cpu/cpu0/raw" % name, image)
        os.makedirs(os.path.join(folder, "saved"), exist_ok=True)
        mctrace.text("export", "--to", "mctrace", "--kallsyms", os.path.join(folder, "rings/names"), "-o",
                     os.path.join(folder, "saved", name), os.path.join(folder, "rings", name))
    kinds["saved"] = [None]
    for kind in kinds:
        for name in recs:       # pprof's output has the time of a recording that has none itself
            os.utime(os.path.join(folder, kind, name), (BEGAN, BEGAN))
    return {kind: options for kind, (_, *options) in kinds.items()}


def text_of_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def run_in(mctrace, where, command, pipe):
    """Run a command in a folder. If @pipe, it reads its source from a pipe. Return the status, all that it prints, and
    all files that it makes, by name."""
    words = ["-" if pipe and word == FILE else word for word in command]
    ran = subprocess.run([mctrace.path, *words], input=text_of_bytes(os.path.join(where, FILE)) if pipe else b"",
                         capture_output=True, cwd=where, timeout=TIMEOUT, check=False, env=dict(os.environ, LC_ALL="C"))
    out, files = os.path.join(where, "out"), {}
    if os.path.isdir(out):
        files = {name: text_of_bytes(os.path.join(out, name)) for name in os.listdir(out)}
        shutil.rmtree(out)
    elif os.path.exists(out):
        files = {"": text_of_bytes(out)}
        os.unlink(out)
    return ran.returncode, ran.stdout, ran.stderr, files


def lines_of(got):
    """Return what run_in() returns as a list: the status, all lines, and all lines of each file after its name."""
    status, printed, says, files = got
    lines = [status, *printed.splitlines(), *says.splitlines()]
    for name in sorted(files):
        lines += [name, *files[name].splitlines()]
    return lines


def check_everywhere(mctrace, folder, recs, commands, zstd):
    """Each command gives the same output for each source with the same words, also from a pipe."""
    folder = os.path.join(folder, "everywhere")
    kinds = put_sources(mctrace, folder, recs, zstd)
    wrong = []
    for command in commands:
        command = command + [FILE] * (FILE not in command)
        # A recording has lines of information that no ring has, and that exports contain.
        known = {kind: run_in(mctrace, os.path.join(folder, kind), command, False) for kind in ("recording", "saved")}
        exports = command[0] == "export" and command[2] in ("trace.dat", "uftrace", "ctf", "perfetto", "pprof")
        if known["recording"][0] or not (known["recording"][1] or known["recording"][3]):
            wrong.append("%s: %s" % (" ".join(command), known["recording"]))
        for kind, options in kinds.items():
            wanted = known["saved" if exports and kind not in ("recording", "compressed") else "recording"]
            for pipe in (False, True) if kind != "folder" else (False,):
                got = run_in(mctrace, os.path.join(folder, kind), command + options, pipe)
                wrong += compare_lists("%s of %s%s: line" % (" ".join(command), kind, ", a pipe" * pipe),
                                       lines_of(got), lines_of(wanted))
    shutil.rmtree(folder)
    return wrong


def check_refused_sources(mctrace, folder, zstd):
    """What a command refuses by design, it refuses by one sentence."""
    folder = os.path.join(folder, "everywhere")
    put_sources(mctrace, folder, {FILE: short(), "other": short()}, zstd)
    put(folder, "log/" + FILE, b"<0>[   12.345678][  T57] mctracer: frozen: panic; the last 2 calls\n")
    put(folder, "nothing/%s/a" % FILE, b"")
    wrong = []
    for kind, command, says in REFUSED:
        if kind == "compressed" and not zstd:
            continue
        command = command + [FILE] * (FILE not in command)
        got = run_in(mctrace, os.path.join(folder, kind), command, False)
        sentence = r"mctrace: [^\n]*%s\n" % re.escape(says)
        if got[0] != 1 or got[1] or got[3] or not re.fullmatch(sentence, got[2].decode()):
            wrong.append("%s of %s: %s" % (" ".join(command), kind, got))
    shutil.rmtree(folder)
    return wrong


def check_last_boot(mctrace, folder):
    """The kernel's header of the boot is printed; another kernel's rings need that kernel's names."""
    rec = short()
    raw = put(folder, "last_boot/raw", image_of(rec))
    names = put(folder, "names", rec.functions.kallsyms().encode())
    own = put(folder, "own.dat", b"")
    rec.write(own)
    wrong = []
    for which, kernel in (("this", "this one, 1234"),
                          ("another", "another one, which has the functions' names, 5678")):
        lines = "# kernel: %s\n# entries: 7\n# damaged: 0 words, 0 pages\n" % kernel
        put(folder, "last_boot/trace", (lines + "CPU 0: a:1 b <-- c\n").encode())
        text = mctrace.text("report", "--kallsyms", names, raw)
        if not text.startswith(lines + "# mode: "):
            wrong.append("%s: report begins with %s" % (which, text[:200]))
        status, says = limited(mctrace, ["report", raw])
        if status != 1 or ("5678" not in says and which == "another") or "--kallsyms" not in says:
            wrong.append("a copy, %s kernel: status %d, %s" % (which, status, says))
    status, says = limited(mctrace, ["report", "--kallsyms", names, own])
    if status != 1 or "has its own names" not in says:
        wrong.append("names twice: status %d, %s" % (status, says))
    return wrong


def check_end_of_boot(mctrace, folder):
    """report prints the latest call of a function that ends boots, such as panic; not the call of one by another."""
    rec = short()
    raw = put(folder, "ended_boot/raw", image_of(rec))
    header = "# kernel: this one, 1234\n# entries: 7\n# damaged: 0 words, 0 pages\n"
    put(folder, "ended_boot/trace", header.encode())
    wrong = []

    def ended(**renamed):
        """Return the line of the end, and all calls of the ending functions, if these functions had those names."""
        names = rec.functions.kallsyms()
        for old, new in renamed.items():
            names = re.sub(r" %s$" % old, " " + new, names, flags=re.M)
        text = mctrace.text("report", "--kallsyms", put(folder, "names", names.encode()), raw)
        end = re.findall("^# ended: (.*)$", text, re.M)
        if end and not text.startswith(header + "# ended: "):
            wrong.append("the end is not behind the kernel's header: %s" % text[:200])
        return end, re.findall(r"^(?:\[.*?\] )?.*CPU 0: .*? (%s)\+\S+ <-- ([\w.]+)" % "|".join(renamed.values()), text,
                               re.M)

    for name in ("panic", "kernel_restart", "kernel_kexec"):
        for function in ("kfree", "mutex_lock", "schedule"):
            end, calls = ended(**{function: name})
            wrong += compare_lists(function, end, ["%s <-- %s, on CPU 0" % calls[-1]])
    _, calls = ended(kfree="panic")
    caller = calls[-1][1]
    end, both = ended(kfree="vpanic", **{caller: "panic"})
    first = [call for call in both if call[1] != "panic"]
    wrong += compare_lists("both", end, ["%s <-- %s, on CPU 0" % first[-1]])
    if not any(call == ("vpanic", "panic") for call in both):
        wrong.append("nothing was called by panic: %s" % both)
    return wrong + compare_lists("nothing", ended(kfree="nothing")[0], [])


def check_folder(mctrace, folder):
    """The tracer's folder has the rings of all CPUs, of which some may have no file, or nothing recorded."""
    rec = recordings.simulate(700, 5, cpus=2, notes=NOTES, gaps=False, exits=False, before=False)
    names = put(folder, "names", rec.functions.kallsyms().encode())
    dat = put(folder, "of-folder.dat", b"")
    rec.write(dat)
    image, size = image_of(rec), 4096 + RING
    empty = bytearray(image[:size])
    recordings.struct.pack_into("<I", empty, 12, 3)
    recordings.struct.pack_into("<2Q", empty, 56, recordings.BASE, rec.rings[0].start)
    tracer = os.path.join(folder, "tracer")
    for cpu, ring in ((0, image[:size]), (1, image[size:]), (3, bytes(empty))):
        put(tracer, "per_cpu/cpu%u/raw" % cpu, ring)
    wrong = []
    for command in (["report", "--json"], ["report", "--tree"], ["profile"], ["export", "--to", "folded"]):
        got = mctrace.text(*command, "--kallsyms", names, tracer).replace(tracer, dat)
        wrong += compare_lists(" ".join(command), got.splitlines(), mctrace.text(*command, dat).splitlines())
    saved = os.path.join(folder, "folder.dat")
    mctrace.text("export", "--to", "mctrace", "--kallsyms", names, "-o", saved, tracer)
    wrong += compare_lists("saved", mctrace.text("report", saved).splitlines(),
                           mctrace.text("report", dat).splitlines())
    status, says = limited(mctrace, ["report", tracer])
    if "the running kernel's are shown" not in says:
        wrong.append("a copy without names: status %d, %s" % (status, says))
    for cpu in (0, 1):
        os.remove(os.path.join(tracer, "per_cpu/cpu%u/raw" % cpu))
    status, says = limited(mctrace, ["report", "--kallsyms", names, tracer])
    if status != 1 or "nothing was recorded" not in says:
        wrong.append("nothing: status %d, %s" % (status, says))
    words = recordings.struct.pack("<3Q", *recordings.stream_words(0))
    for what, data in (("nothing", b""), ("half a header", image[:50]), ("half a ring", image[:9000]),
                       ("words", words * 2000)):
        put(tracer, "per_cpu/cpu0/raw", data)
        status, says = limited(mctrace, ["report", "--kallsyms", names, tracer])
        if status != 1 or "per_cpu/cpu0/raw in" not in says or "is no ring" not in says:
            wrong.append("%s: status %d, %s" % (what, status, says))
    put(tracer, "per_cpu/cpu0/raw", image[:4] + b"\x63" + image[5:size])
    status, says = limited(mctrace, ["report", "--kallsyms", names, tracer])
    if status != 1 or "is of version 99" not in says:
        wrong.append("another version: status %d, %s" % (status, says))
    status, says = limited(mctrace, ["report", folder])
    if status != 1 or "is a folder" not in says:
        wrong.append("another folder: status %d, %s" % (status, says))
    return wrong


def check_refused(mctrace, folder):
    """An export that fails leaves no folder; recordings that pprof can't add up are refused."""
    rec = short()
    dat = os.path.join(folder, "refused.dat")
    rec.write(dat)
    wrong = []
    for form in ("ctf", "uftrace"):
        out = os.path.join(folder, "refused." + form)
        status, says = limited(mctrace, ["export", "--to", form, "-o", out, "--task", "nosuch", dat])
        if status != 1 or os.path.exists(out):
            wrong.append("%s: status %d, %s" % (form, status, says))
        mctrace.text("export", "--to", form, "-o", out, dat)
    names = put(folder, "names", rec.functions.kallsyms().encode())
    ring = put(folder, "returns.ring", image_of(rec))
    calls = recordings.Recording(cpus=1, late=False, now=0, notes=NOTES, mode="function")
    calls.run(0, calls.task(65, "cat"))
    calls.call(0, "vfs_read")
    other = put(folder, "calls.ring", image_of(calls))
    for paths, wanted in (((other, ring), 1), ((ring, other), 0)):
        status, says = limited(mctrace, ["export", "--to", "pprof", "--kallsyms", names, "-o",
                                         os.path.join(folder, "refused.pb.gz"), *paths])
        if status != wanted or "has%s returns" % (" no" if not wanted else "") not in says:
            wrong.append("pprof: status %d, not %d: %s" % (status, wanted, says))
    return wrong


def check_saved(mctrace, folder):
    """A recording that export makes of last_boot/raw gives the same output, without the kernel's names."""
    wrong = []
    for first in (0, RING + 3 * NOTES):
        rec = short(first)
        raw = put(folder, "saved/raw", image_of(rec))
        names = put(folder, "names", rec.functions.kallsyms().encode())
        put(folder, "saved/trace", b"# kernel: this one, 1234\n# entries: 7\nCPU 0: a:1 b <-- c\n")
        saved = os.path.join(folder, "saved.dat")
        for _ in range(2):      # the second one keeps the first one
            mctrace.text("export", "--to", "mctrace", "--kallsyms", names, "-o", saved, raw)
        if not os.path.exists(saved + ".old"):
            wrong.append("the recording before is lost")
        for command in (["report"], ["report", "--tree"], ["profile"], ["export", "--to", "folded"]):
            wanted = mctrace.text(*command, "--kallsyms", names, raw).replace(raw, saved)
            wrong += compare_lists(" ".join(command), mctrace.text(*command, saved).splitlines(), wanted.splitlines())
    status, says = limited(mctrace, ["export", "--to", "mctrace", "-o", saved + "2", saved])
    if status != 1 or "is a recording already" not in says:
        wrong.append("of a recording: status %d, %s" % (status, says))
    return wrong


def check_log(mctrace, folder):
    """report prints the calls in a log of a crash, and no other text."""
    log = put(folder, "log", b"Panic#1 Part1\n<0>[   12.345678][  T57] mctracer: frozen: panic; the last 2 calls\n"
              b"<0>[   12.345678][  T57] CPU 0: a:1 b+0x5/0x9 [m] <-- c+0x1/0x2\n"
              b"[   12.345679] [1.234] CPU 0: a:1 b+0x5/0x9 <-- c+0x1/0x2\n[   12.3] mctracer: end of the last calls")
    wanted = ["Panic#1 Part1", "mctracer: frozen: panic; the last 2 calls", "CPU 0: a:1 b+0x5/0x9 [m] <-- c+0x1/0x2",
              "[1.234] CPU 0: a:1 b+0x5/0x9 <-- c+0x1/0x2", "mctracer: end of the last calls"]
    wrong = compare_lists("line", mctrace.text("report", log).splitlines(), wanted)
    for options in (["--json"], ["--lines", "1"], ["--func", "b"], ["--tree"], ["--task", "a"], ["--btf", log],
                    ["--vmlinux", log], ["--kallsyms", log]):
        ran = mctrace.run("report", *options, log)
        wrong += compare_lists(" ".join(options), [ran.returncode, ran.stdout, ran.stderr.decode().split("\n")[0]], [
            2, b"", "mctrace: %s is text of the kernel's log: no option selects or converts its lines" % log])
    status, says = limited(mctrace, ["report", put(folder, "log", b"a text of the kernel's log\n")])
    if status != 1 or "is no recording" not in says:
        wrong.append("another text: status %d, %s" % (status, says))
    return wrong


def vmlinux_of(rec, folder):
    """Make an ELF file with the kernel's functions at their addresses, and nm's output for it."""
    lines = ["\t.text"]
    own = {int(line.split()[0], 16): line.split()[2] for line in rec.functions.lines
           if line.split()[1] in "tT" and "[" not in line}
    for address, name in sorted(own.items()):
        lines += ["\t.org %#x" % (address - recordings.STEXT), "\t.globl %s" % name,
                  "\t.type %s, @function" % name, "%s:\tnop" % name]
    source = put(folder, "vmlinux.s", "\n".join(lines + [""]).encode())
    elf = os.path.join(folder, "vmlinux")
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,-Ttext=%#x" % recordings.STEXT,
                    "-Wl,-e,_stext", "-Wl,--build-id=none", "-o", elf, source], check=True)
    nm = subprocess.run(["nm", elf], stdout=subprocess.PIPE, check=True).stdout
    return elf, put(folder, "nm", nm)


def check_vmlinux(mctrace, folder):
    """A vmlinux gives the same names as nm's output for it."""
    rec = short()
    raw = put(folder, "raw-of-vmlinux", image_of(rec))
    elf, nm = vmlinux_of(rec, folder)
    wanted = mctrace.text("report", "--kallsyms", nm, raw)
    if wanted.count("[unknown]") * 3 > wanted.count("\n"):
        return ["most functions are unknown"]
    if "without libdw" in mctrace.text("--version"):
        return []
    got = mctrace.text("report", "--kallsyms", elf, raw)
    return compare_lists("line", got.splitlines(), wanted.splitlines())


def check_bad_rings(mctrace, folder):
    """Rings that are cut, or have an invalid header."""
    whole = image_of(short())
    names = put(folder, "names", short().functions.kallsyms().encode())
    wrong = []
    cases = [("cut in the ring", (whole + whole)[:-1000], 1, "ends within a ring"),
             ("cut in the header", whole + whole[:50], 1, "no ring of a known version"),
             ("another version", whole[:4] + b"\7" + whole[5:], 1, "offset 0"),
             ("ELF", b"\x7fELF" + bytes(100), 1, "extract.py makes a recording")]
    for at in (8, 12, 16, 20, 24, 31, 32, 56, 64):
        flipped = bytearray(whole)
        flipped[at] ^= 5
        cases.append(("a bit of the header at %d" % at, bytes(flipped), None, ""))
    for name, data, status, says in cases:
        path = put(folder, "bad-raw", data)
        ran = mctrace.run("profile", "--kallsyms", names, path, sanitized=bool(mctrace.sanitized))
        if ran.returncode not in ((0, 1) if status is None else (status,)) or \
           says not in ran.stderr.decode():
            wrong.append("%s: status %d, %s" % (name, ran.returncode, ran.stderr.decode()))
    return wrong


# --- answers without content ---

def quiet(folder, chosen, returned):
    """A recording with no events, or with one call of vfs_read by do_syscall_64."""
    rec = recordings.Recording(cpus=1, late=False)
    if returned is not None:
        rec.run(0, rec.task(65, "cat"))
        rec.call(0, "vfs_read")
        rec.call(0, "kfree")
        if returned:
            rec.leave(0)
            rec.leave(0)
    path = os.path.join(folder, "quiet.dat")
    rec.write(path)
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data + chunk(1, b"chosen %d\n" % chosen))
    return path


EMPTY = [       # were functions selected, have calls returned, command, message
    (0, None, ["report"], "nothing was recorded"),
    (1, None, ["profile"], "none of the selected functions was called"),
    (0, None, ["export", "--to", "folded"], "nothing was recorded"),
    (0, None, ["flame", "-o", "-"], "nothing was recorded"),
    (0, True, ["graph", "vfs_write"], "vfs_write was not called in"),
    (1, True, ["graph", "vfs_write"], "not all functions were recorded"),
    (1, True, ["latency", "vfs_write"], "not all functions were recorded"),
    (1, True, ["slow", "vfs_write"], "not all functions were recorded"),
    (0, True, ["graph", "vfs_reed"], "did you mean vfs_read"),
    (0, True, ["graph", "xyzzyxyzzy"], "has no function of this name"),
    (0, True, ["latency", "do_syscall_64"], "its own calls were not recorded"),
    (0, True, ["slow", "do_syscall_64"], "its own calls were not recorded"),
    (0, True, ["graph", "do_syscall_64"], "its own calls were not recorded"),
    (0, False, ["latency", "vfs_read"], "no call of vfs_read has returned"),
    (0, False, ["slow", "vfs_read"], "no call of vfs_read has returned"),
]


def check_empty(mctrace, folder):
    """Each command prints why there is no answer, and fails."""
    wrong = []
    for chosen, returned, command, says in EMPTY:
        ran = mctrace.run(*command, quiet(folder, chosen, returned))
        if ran.returncode != 1 or says not in ran.stderr.decode() or ran.stdout:
            wrong.append("%s: status %d, '%s', and it prints '%s'" % (
                " ".join(command), ran.returncode, ran.stderr.decode(), ran.stdout.decode()[:80]))
    return wrong


def check_no_rules(mctrace, folder):
    """A file of rules with only comments."""
    path = os.path.join(folder, "no.rules")
    wrong = []
    for text in ("", "# nothing\n\n", "\0alloc: 1\n"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        ran = mctrace.run("object", "--rules", path, "--triggers", "--functions", path,
                          sanitized=bool(mctrace.sanitized))
        if ran.returncode != 1 or b"has no rules" not in ran.stderr:
            wrong.append("%r: status %d, %s" % (text, ran.returncode, ran.stderr.decode()))
    return wrong


# --- the man page of the format ---

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
NUMBERS = [     # a number in the source, and its text in the man page
    ("recording.h", r"RECORDING_MARK\s+(0x\w+)", "%s, \"chnk\""),
    ("recording.h", r"RECORDING_VERSION\s+(\d+)", "the version, %s;"),
    ("recording.h", r"RECORDING_MOST\s+\((\d+)UL << 20", "up to %s MiB, words"),
    ("recording.h", r"RECORDING_MOST_WORDS\s+\((\d+)UL << 20", "words up to %s MiB"),
    ("recording.h", r"RECORDING_ANY\s+\((\d+)UL << 20", "or %s MiB each"),
    ("recording_read.c", r"SYMBOLS_EXPAND\s+(\d+)", "at most %s times the size"),
    ("recording_read.c", r"WORDS_EXPAND\s+(\d+)", "all words %s times"),
    ("walk.c", r"MOST_OPEN\s+(\d+)", "More than %s open calls"),
]


def words_of(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return re.sub(r"\s+", " ", file.read().replace("1,024", "1024"))


def check_format_page(_mctrace, _folder):
    """mctrace.dat(5) has the program's numbers, and all types and keys that mctrace writes."""
    page = words_of("Documentation/tools/mctrace/mctrace.dat.rst")
    wrong = []
    for name, pattern, says in NUMBERS:
        found = re.search(pattern, words_of("tools/mctrace/" + name))
        if not found or says % found[1] not in page:
            wrong.append("%s: %s: '%s' is not there" % (name, pattern, says))
    record = words_of("tools/mctrace/record.c") + words_of("tools/mctrace/follow.c")
    for text in re.findall(r'xasprintf\("((?:[^"]|" ")*)"', record):
        for key in re.findall(r"(?:^|\\n|%s)(\w+) %", text.replace('" "', "")):
            if key[:1].islower() and "``%s``" % key not in page:
                wrong.append("the key %s is not described" % key)
    for name in re.findall(r"#define (MCTRACER_(?:VALUE|DATA|OBJECT|TOOK|FRAME|MARK|GAP|COUNT|CLOCK"
                           r"|RETURN|RETURN_TAIL)) ", words_of("include/uapi/linux/mctracer.h")):
        if "``%s``" % name not in page:
            wrong.append("%s is not described" % name)
    return wrong


def test(tap, attempt, mctrace, folder, compressed):
    attempt(tap, "the beginning of a pipe is checked first", None, check_pipes, mctrace, folder)
    attempt(tap, "calls deeper than a stack", None, check_deep, mctrace, folder)
    attempt(tap, "many chunks of information", None, check_many_chunks, mctrace, folder)
    attempt(tap, "the kernel's raw files in each command", None, check_raw, mctrace, folder)
    for name, recs, commands in (("all commands", {FILE: short(), "other": short(RING + 3 * NOTES, 500)}, READ_ALL),
                                 ("why", {FILE: in_quarters(marked())}, READ_MARKS),
                                 ("packet, object", {FILE: in_quarters(packets.cloned())}, READ_OBJECTS)):
        attempt(tap, "each source of words: " + name, None, check_everywhere, mctrace, folder, recs, commands,
                compressed)
    attempt(tap, "sources that are refused", None, check_refused_sources, mctrace, folder, compressed)
    attempt(tap, "names from a vmlinux", None, check_vmlinux, mctrace, folder)
    attempt(tap, "last_boot/raw", None, check_last_boot, mctrace, folder)
    attempt(tap, "last_boot/raw: what ended that boot", None, check_end_of_boot, mctrace, folder)
    attempt(tap, "the tracer's folder", None, check_folder, mctrace, folder)
    attempt(tap, "exports that are refused", None, check_refused, mctrace, folder)
    attempt(tap, "a recording made of last_boot/raw", None, check_saved, mctrace, folder)
    attempt(tap, "the log of a crash", None, check_log, mctrace, folder)
    attempt(tap, "rings that are damaged", None, check_bad_rings, mctrace, folder)
    attempt(tap, "commands without an answer print why", None, check_empty, mctrace, folder)
    attempt(tap, "a file without rules", None, check_no_rules, mctrace, folder)
    attempt(tap, "mctrace.dat(5) has the program's numbers", None, check_format_page, mctrace,
            folder)
    if compressed:
        attempt(tap, "small files take little memory", None, check_small_files, mctrace, folder)
    else:
        tap.skip("small files take little memory", "there is no zstd")
