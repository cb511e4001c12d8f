# SPDX-License-Identifier: GPL-2.0
# Test how mctrace prints followed objects: in report, and as packets and objects by rule sets.
import os
import re
import struct
import subprocess

import recordings
from harness import TIMEOUT, Case, compare, compare_lists, growth, json_lines, peak

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/mctrace/rules")
SETS = "skb bio request task_struct inode file folio".split()
NAMES = """__alloc_skb skb_clone __copy_skb_header __dev_queue_xmit ip_rcv tcp_v4_rcv udp_rcv
arp_rcv ipv6_rcv __udp_enqueue_schedule_skb skb_copy_datagram_iter sk_skb_reason_drop consume_skb
kfree_skbmem tpacket_rcv skb_release_data kfree_skb_list_reason kmem_cache_free_bulk
__napi_kfree_skb napi_skb_cache_put local_bh_enable skb_splice_bits skb_try_coalesce tcp_queue_rcv
skb_copy_and_csum_datagram_msg skb_consume_udp __consume_stateless_skb kfree_skb_reason udp_recvmsg
unix_stream_read_generic __tcp_close __kfree_skb dev_kfree_skb_irq_reason unix_destruct_scm
nf_hook_slow eth_type_trans""".split()
TYPES = """
enum skb_drop_reason { SKB_NOT_DROPPED_YET, SKB_CONSUMED, SKB_DROP_REASON_NOT_SPECIFIED,
                       SKB_DROP_REASON_NO_SOCKET, SKB_DROP_REASON_QDISC_DROP,
                       SKB_DROP_REASON_QUEUE_PURGE, SKB_DROP_REASON_UDP_CSUM };
struct sk_buff {
    void *next, *prev;
    union { int other; struct { unsigned flag:1;
                                struct { unsigned char inner; unsigned short mark; }; }; };
    union { struct { unsigned short network_header; }; struct { unsigned short copied; } headers; };
    const unsigned char *head, *data;
};
int f(struct sk_buff *skb, enum skb_drop_reason reason) { return skb->other + reason; }
void skb_release_data(struct sk_buff *skb, enum skb_drop_reason reason) { f(skb, reason); }
void local_bh_enable(void) { }
int udp_rcv(struct sk_buff *skb) { return skb->other; }
"""


def address(text):
    return bytes(int(part) for part in text.split("."))


def ip(protocol, source, target, rest):
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(rest), 1, 0, 64, protocol, 0)
    return header + address(source) + address(target) + rest


def udp(source, sport, target, dport, nr):
    return ip(17, source, target, struct.pack(">HHHH", sport, dport, 8 + nr, 0) + b"x" * nr)


def tcp(source, sport, target, dport, flags, nr=0):
    return ip(6, source, target, struct.pack(">HHIIBBHHH", sport, dport, 1, 2, 5 << 4, flags, 100,
                                             0, 0) + b"x" * nr)


def icmp(source, target):
    return ip(1, source, target, struct.pack(">BBHHH", 8, 0, 0, 1, 1) + bytes(56))


def ipv6_udp(nr):
    one = bytes(15) + b"\1"
    return (struct.pack(">IHBB", 6 << 28, 8 + nr, 17, 64) + one + one +
            struct.pack(">HHHH", 5, 6, 8 + nr, 0) + bytes(nr))


def arp():
    return (struct.pack(">HHBBH", 1, 0x800, 6, 4, 1) + bytes(6) + address("10.0.0.1") + bytes(6) +
            address("10.0.0.9"))


class Net:
    """A recording with functions that packets go through, on one CPU at a time."""
    def __init__(self, context=True, cpus=1):
        self.rec = recordings.Recording(cpus=cpus, late=False, now=0, context=context)
        self.rec.functions.load("net", NAMES, 0xffffffffc0400000)
        self.run(65, "nc")

    def run(self, pid, comm, cpu=0):
        """Let this task make the next calls."""
        self.cpu = cpu
        self.rec.run(cpu, self.rec.task(pid, comm))

    def call(self, name, *objects, data=b"", args=(), result=(), returns=None):
        """Record a call and its return, 1 us each. @returns: the result."""
        self.rec.wait(998)
        self.rec.call(self.cpu, name, objects=objects, data=data[:84], args=args)
        self.rec.wait(998)
        self.rec.leave(self.cpu, objects=result, result=returns)

    def within(self, caller, name, *objects, **how):
        """Record a call by @caller, which has no object itself."""
        self.rec.call(self.cpu, caller)
        self.call(name, *objects, **how)
        self.rec.leave(self.cpu)

    def begin(self, number):
        self.call("__alloc_skb", result=["+%d:ret" % number])

    def end(self, number):
        self.call("kfree_skbmem", "-%d:1" % number)


def cloned():
    """A datagram with a clone for a packet socket, on its way to a UDP socket."""
    net = Net()
    net.begin(12)
    net.call("__dev_queue_xmit", "12:1", data=udp("10.0.0.1", 4711, "10.0.0.2", 53, 28))
    net.call("__copy_skb_header", "+13:1", "12:2")
    net.call("tpacket_rcv", "13:1")
    net.call("consume_skb", "13:1")
    net.end(13)
    net.call("ip_rcv", "12:1", data=udp("10.0.0.1", 4711, "10.0.0.2", 53, 28))
    net.call("__udp_enqueue_schedule_skb", "12:2")
    net.run(66, "dnsd")
    net.call("skb_copy_datagram_iter", "12:1", returns=0)
    net.call("consume_skb", "12:1")
    net.end(12)
    return net.rec


CLONED = """#12 UDP 10.0.0.1:4711 > 10.0.0.2:53, 28 bytes
  +0.000 us CPU 0 .... nc:65 __alloc_skb [net] returns
  +1.000 us CPU 0 .... nc:65 __dev_queue_xmit [net] <-- do_syscall_64
  +3.000 us CPU 0 .... nc:65 __copy_skb_header [net] <-- do_syscall_64
  +11.000 us CPU 0 .... nc:65 ip_rcv [net] <-- do_syscall_64
  +13.000 us CPU 0 .... nc:65 __udp_enqueue_schedule_skb [net] <-- do_syscall_64
  +15.000 us CPU 0 .... dnsd:66 skb_copy_datagram_iter [net] <-- do_syscall_64
  +17.000 us CPU 0 .... dnsd:66 consume_skb [net] <-- do_syscall_64
  +19.000 us CPU 0 .... dnsd:66 kfree_skbmem [net] <-- do_syscall_64
  #13 of #12
    +3.000 us CPU 0 .... nc:65 __copy_skb_header [net] <-- do_syscall_64
    +5.000 us CPU 0 .... nc:65 tpacket_rcv [net] <-- do_syscall_64
    +7.000 us CPU 0 .... nc:65 consume_skb [net] <-- do_syscall_64
    +9.000 us CPU 0 .... nc:65 kfree_skbmem [net] <-- do_syscall_64
    copied to a packet socket
  delivered to dnsd (66)
"""




def several():
    """One packet of each kind; the last one is never freed."""
    net = Net()
    packets = [("ip_rcv", udp("10.0.0.1", 1, "10.0.0.2", 2, 0) + b"behind it"),
               ("ip_rcv", tcp("10.0.0.1", 80, "10.0.0.2", 1025, 0x12)),
               ("ip_rcv", icmp("10.0.0.1", "10.0.0.2")), ("arp_rcv", arp()),
               ("ipv6_rcv", ipv6_udp(3)), ("ip_rcv", b"\0" * 40)]
    for number, (name, data) in enumerate(packets, 1):
        net.begin(number)
        net.call(name, "%d:1" % number, data=data)
        if number == 1:
            net.call("sk_skb_reason_drop", "1:2", args=[0, 1, 3])
        if number != len(packets):
            net.end(number)
    return net.rec


SEVERAL = """#1 UDP 10.0.0.1:1 > 10.0.0.2:2, 0 bytes
#2 TCP 10.0.0.1:80 > 10.0.0.2:1025 [S.], 0 bytes
#3 ICMP 10.0.0.1 > 10.0.0.2, echo request, 56 bytes
#4 ARP who has 10.0.0.9? tell 10.0.0.1
#5 UDP [::1]:5 > [::1]:6, 3 bytes
#6
""".splitlines()


def reused():
    """Memory that is reused at once: only the numbers differ. One copy began before it was copied."""
    net = Net()
    for number in (1, 2):
        net.begin(number)
        net.call("ip_rcv", "%d:1" % number, data=udp("10.0.0.%d" % number, 1, "10.0.0.9", 2, 5))
        net.end(number)
    net.begin(3)
    net.begin(4)        # allocated on its own, so only the rule knows its origin
    net.call("__copy_skb_header", "4:1", "3:2")
    net.end(4)
    net.end(3)
    return net.rec


REUSED = """#1 UDP 10.0.0.1:1 > 10.0.0.9:2, 5 bytes
#2 UDP 10.0.0.2:1 > 10.0.0.9:2, 5 bytes
#3
  #4 of #3
""".splitlines()


CONSUMED, NOT_SPECIFIED, NO_SOCKET, QDISC_DROP, QUEUE_PURGE, UDP_CSUM = range(1, 7)


def freed_in_list(net, numbers, reason):
    """Free a list as kfree_skb_list_reason() does; a call has at most four objects."""
    net.rec.call(0, "kfree_skb_list_reason", objects=["%d:1" % numbers[0]], args=[0, reason])
    for number in numbers:
        net.call("skb_release_data", "%d:1" % number, args=[0, reason])
    for i in range(0, len(numbers), 4):
        net.call("kmem_cache_free_bulk", *["-%d:3" % number for number in numbers[i:i + 4]])
    net.rec.leave(0)


def in_lists():
    """Lists that are freed as an array: with a reason, without, and as consumed."""
    net = Net()
    for numbers, reason in (((1, 2, 3, 4, 5, 6), QDISC_DROP), ((7, 8), NOT_SPECIFIED),
                            ((9, 10), CONSUMED)):
        for number in numbers:
            net.begin(number)
        freed_in_list(net, numbers, reason)
    return net.rec


def in_interrupts():
    """Packets that NAPI frees: with a reason, without, and as consumed."""
    net = Net()
    for number, reason in ((1, QDISC_DROP), (2, NOT_SPECIFIED), (3, CONSUMED)):
        net.begin(number)
        net.call("__napi_kfree_skb", "%d:1" % number, args=[0, reason])
        net.call("napi_skb_cache_put", "-%d:1" % number)
    return net.rec


def copied(net, reason, returns, caller="unix_stream_read_generic"):
    """A packet that was queued and read."""
    net.call("__udp_enqueue_schedule_skb", "1:2")
    net.within(caller, "skb_copy_datagram_iter", "1:1", returns=returns)
    net.call("kfree_skb_reason", "1:1", args=[0, reason], data=struct.pack("<I", 1))


def udp_read(net, peek):
    net.call("__udp_enqueue_schedule_skb", "1:2")
    net.within("udp_recvmsg", "skb_copy_datagram_iter", "1:1", returns=0)
    net.call("skb_consume_udp", "1:2")
    if not peek:
        net.call("__consume_stateless_skb", "1:1")


def in_irq(net):
    net.call("dev_kfree_skb_irq_reason", "1:1", args=[0, QDISC_DROP])
    net.call("__kfree_skb", "1:1")


def queued(net, name, caller=None):
    net.call("tcp_queue_rcv", "1:2")
    if caller:
        net.within(caller, name, "1:1")


def spliced(net, returns):
    net.call("tcp_queue_rcv", "1:2")
    net.call("skb_splice_bits", "1:1", returns=returns)
    net.call("__kfree_skb", "1:1")


def joined(net, returns):
    net.call("tcp_queue_rcv", "1:2")
    net.call("skb_try_coalesce", "2:1", "1:2", returns=returns)


def shared(net, users):
    net.call("kfree_skb_reason", "1:1", args=[0, NO_SOCKET], data=struct.pack("<I", users))
    net.call("consume_skb", "1:1")


# What happens to packet 1, whether it ends, and the expected verdict
FATES = (
    (lambda net: copied(net, CONSUMED, 0), True, "delivered to nc (65)"),
    (lambda net: copied(net, QUEUE_PURGE, 0), True, "dropped: SKB_DROP_REASON_QUEUE_PURGE"),
    (lambda net: copied(net, UDP_CSUM, -22), True, "dropped: SKB_DROP_REASON_UDP_CSUM"),
    (lambda net: copied(net, CONSUMED, -14), True, "consumed"),
    (lambda net: copied(net, CONSUMED, None), True, "consumed"),
    (lambda net: copied(net, CONSUMED, 0, "udp_recvmsg"), True, "consumed"),
    (lambda net: udp_read(net, False), True, "delivered to nc (65)"),
    (lambda net: udp_read(net, True), False,
     "left in a UDP socket's queue, read by nc (65) with MSG_PEEK, not freed when recording ended"),
    (lambda net: (udp_read(net, True), copied(net, NOT_SPECIFIED, -1)), True,
     "dropped: SKB_DROP_REASON_NOT_SPECIFIED"),
    (lambda net: (udp_read(net, True), udp_read(net, False)), True, "delivered to nc (65)"),
    (in_irq, True, "dropped: SKB_DROP_REASON_QDISC_DROP"),
    (lambda net: queued(net, None), False,
     "left in a TCP socket's queue, not freed when recording ended"),
    (lambda net: queued(net, None), True, "ended"),
    (lambda net: queued(net, "__kfree_skb", "__tcp_close"), True,
     "dropped: its socket was closed before it was read"),
    (lambda net: queued(net, "__kfree_skb", "udp_recvmsg"), True, "consumed"),
    (lambda net: spliced(net, 100), True, "delivered to a pipe by nc (65)"),
    (lambda net: spliced(net, -11), True, "consumed"),
    (lambda net: joined(net, 0xff01), True, "joined to the one before"),
    (lambda net: joined(net, 0xff00), False,
     "left in a TCP socket's queue, not freed when recording ended"),
    (lambda net: shared(net, 2), True, "consumed"),
    (lambda net: shared(net, 1), True, "dropped: SKB_DROP_REASON_NO_SOCKET"),
)


def check_fates(mctrace, folder):
    """The last event with a rule decides, by results, values and callers."""
    btf, wrong = types(folder), []
    for nr, (happens, ends, wanted) in enumerate(FATES):
        net = Net()
        net.begin(1)
        net.begin(2)
        happens(net)
        if ends:
            net.call("local_bh_enable" if wanted == "ended" else "napi_skb_cache_put", "-1:1")
        case = Case(folder, "fate %d" % nr, net.rec)
        text = packet(mctrace, case, "--btf", btf)
        wrong += compare_lists("fate %d" % nr, re.findall(r"^#1\n(?:  \+.*\n)*  (.*)$", text, re.M),
                               [wanted])
    return wrong


def check_no_tracepoints(mctrace, folder):
    """Without consume_skb, a packet freed with no reason is not known to be dropped."""
    NAMES.remove("consume_skb")
    net = Net()
    NAMES.append("consume_skb")
    for number, reason in ((1, NOT_SPECIFIED), (2, NO_SOCKET)):
        net.begin(number)
        net.call("kfree_skb_reason", "%d:1" % number, args=[0, reason])
        net.end(number)
    case = Case(folder, "no tracepoints", net.rec)
    got = re.findall("^  ([a-z].*)$", packet(mctrace, case, "--btf", types(folder)), re.M)
    return compare_lists("verdict", got, ["freed, with no reason given",
                                          "dropped: SKB_DROP_REASON_NO_SOCKET"])


def heads(text):
    return [line for line in text.splitlines() if re.match(r" *#\d", line)]


def packet(mctrace, case, *arguments):
    return mctrace.text("packet", "--rules", RULES + "/skb.rules", "--input", case.path, *arguments)


def check_lines(mctrace, folder):
    """report prints objects and memory, line by line."""
    net = Net(context=False)
    net.call("skb_clone", "3:1", "+7:2", "5", data=b"eth0\0\1\2", result=["-3:1", "+8:ret"])
    net.call("skb_clone", data=b'a"\\b')
    net.call("skb_clone", data=b"\0a")
    net.call("skb_clone", data=bytes(range(200, 209)))
    net.rec.mark(0, "kfree", recordings.MARK_FOLLOW_FULL)
    case = Case(folder, "object lines", net.rec)
    pattern = r"^.*?skb_clone\S* ?(?:\[net\])?(.*?)( <-- | after|, called|$).*"
    got = [re.sub(pattern, r"\1", line)
           for line in mctrace.text("report", case.path).splitlines() if line[0] != "#"]
    wrong = compare_lists("line", got, [
        " \"eth0\" #3:1 +#7:2 #5", " returns -#3:1 +#8:ret", ' "a\\"\\\\b"', " returns", " <0061>",
        " returns", " <c8c9cacbcccdcecfd0>", " returns"])
    text = mctrace.text("report", case.path)
    if "# follow: too many objects [" not in text:
        wrong.append("the mark is not there")
    first, second = json_lines(mctrace.text("report", "--json", case.path))[:2]
    return wrong + compare_lists("JSON", [first.get("objects"), first.get("data"),
                                          second.get("objects")], [
        [{"number": 3, "argument": 1}, {"number": 7, "argument": 2, "begins": True},
         {"number": 5, "below": True}], b"eth0\0\1\2".hex(),
        [{"number": 3, "argument": 1, "ends": True},
         {"number": 8, "returned": True, "begins": True}]])


def check_clone(mctrace, folder):
    case = Case(folder, "a clone", cloned())
    got = packet(mctrace, case)
    wrong = compare_lists("line", got.splitlines(), CLONED.splitlines())
    one, two = json_lines(packet(mctrace, case, "--json"))
    return wrong + compare_lists("JSON", [
        one["object"], one["headers"], one["verdict"], one["ended"], len(one["events"]),
        two["object"], two["parent"], two["verdict"]], [
        12, "UDP 10.0.0.1:4711 > 10.0.0.2:53, 28 bytes", "delivered to dnsd (66)", True, 8,
        13, 12, "copied to a packet socket"])


def types(folder):
    path = os.path.join(folder, "skb-types")
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(TYPES)
    subprocess.run(["gcc", "-gbtf", "-c", path + ".c", "-o", path + ".o"], check=True)
    return path + ".o"


def check_kinds(mctrace, folder):
    case = Case(folder, "packets of all kinds", several())
    text = packet(mctrace, case, "--btf", types(folder))
    wrong = compare_lists("head", heads(text), SEVERAL)
    for verdict, times in (("dropped: SKB_DROP_REASON_NO_SOCKET", 1), ("consumed", 4),
                           ("still under way when recording ended", 1)):
        if text.count("\n  %s\n" % verdict) != times:
            wrong.append("'%s' is not there %d times: %s" % (verdict, times, text))
    if "freed, for reason 3\n" not in packet(mctrace, case):
        wrong.append("without types the reason is no number")
    return wrong


def check_expressions(mctrace, folder):
    case = Case(folder, "packets that match", several())
    wrong = []
    for expression, numbers in (("udp", "15"), ("udp dst port 2", "1"), ("tcp", "2"), ("arp", "4"),
                                ("icmp or ip6", "35"), ("host 10.0.0.9", "4"), ("less 43", "14"),
                                ("tcp[tcpflags] & tcp-syn != 0", "2")):
        text = packet(mctrace, case, expression)
        got = "".join(re.findall(r"^#(\d+)", text, re.M))
        if got != numbers:
            wrong.append("%s: %s, not %s" % (expression, got or text, numbers))
    for more in ([], ["--json"], ["--lines", "1"]):
        wrong += refused(mctrace, "mctrace: none matches\n", 1, "packet", "--rules", RULES + "/skb.rules", "-i",
                         case.path, *more, "port 99")
    got = heads(packet(mctrace, case, "udp", "dst", "port", "2"))
    wrong += compare_lists("words", got, SEVERAL[:1])
    got = heads(packet(mctrace, Case(folder, "a clone that matches", cloned()), "port 53"))
    wrong += compare_lists("a tree", got, heads(CLONED))
    return wrong


def refused(mctrace, what, status, *arguments):
    ran = mctrace.run(*arguments)
    said = ran.stderr.decode()
    if ran.returncode != status or what not in said or ran.stdout:
        return ["%s: status %d, and it says '%s'" % (" ".join(arguments), ran.returncode, said)]
    return []


def check_bad_expression(mctrace, folder):
    case = Case(folder, "no expression", cloned())
    rules = RULES + "/skb.rules"
    return (refused(mctrace, "'bogus port' is no expression of pcap-filter(7): ", 1, "packet",
                    "--rules", rules, "-i", case.path, "bogus port") +
            refused(mctrace, "either --input", 2, "packet", "-i", case.path, "--", "true") +
            refused(mctrace, "there are no rules for 'none'", 1, "object", "none") +
            refused(mctrace, "which TYPE?", 2, "object"))


def check_reused(mctrace, folder):
    case = Case(folder, "addresses used again", reused())
    ran = mctrace.run("packet", "--rules", RULES + "/skb.rules", "-i", case.path, "src 10.0.0.2")
    return (compare_lists("head", heads(packet(mctrace, case)), REUSED) +
            compare_lists("head", heads(ran.stdout.decode()), REUSED[1:2]) +
            compare_lists("said", ran.stderr.decode().splitlines(), [
                "mctrace: 1 of 3 packets ended before they could be matched: without headers"]))


def check_never(mctrace, folder):
    """Packets of sockets without headers are no warning; headers before a filter are enough."""
    net = Net()
    for number in (1, 2):
        net.begin(number)
    net.call("unix_destruct_scm", "1:1")
    net.call("nf_hook_slow", "2:1", data=udp("10.0.0.1", 1, "10.0.0.2", 2, 0))
    for number in (1, 2):
        net.end(number)
    case = Case(folder, "never headers", net.rec)
    return compare_lists("head", heads(packet(mctrace, case, "udp")),
                         ["#2 UDP 10.0.0.1:1 > 10.0.0.2:2, 0 bytes"])


# Expressions that can't be matched, and mctrace's message
UNMATCHED = (("vlan", "another type of Ethernet"), ("tcp or vlan 5", "another type of Ethernet"),
             ("ether proto 0x88cc", "another type of Ethernet"), ("llc", "another type of Ethernet"),
             ("ether host 1:2:3:4:5:6", "addresses of Ethernet"),
             ("udp and not ether multicast", "addresses of Ethernet"),
             ("inbound", "only a device knows"), ("ip or outbound", "only a device knows"))
MATCHED = ("host 10.0.0.1", "not arp", "net 10 and not port 3", "ether proto 0x800", "ip multicast",
           "tcp[tcpflags] & tcp-syn != 0 or icmp", "host 10.0.0.9 and not host 10.0.0.8", "ip6")


def check_unmatched(mctrace, folder):
    """An expression is refused only if it needs what was not recorded."""
    case = Case(folder, "expressions", several())
    from_it = ("packet", "--rules", RULES + "/skb.rules", "-i", case.path)
    wrong = []
    for expression, why in UNMATCHED:
        wrong += refused(mctrace, "'%s' asks for" % expression, 2, *from_it, expression)
        wrong += refused(mctrace, why, 2, *from_it, expression)
    for expression in MATCHED:
        ran = mctrace.run(*from_it, expression)
        if ran.returncode and ran.stderr != b"mctrace: none matches\n":
            wrong.append("%s: %s" % (expression, ran.stderr.decode()))
    rules = os.path.join(folder, "ethernet.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("ip_rcv:follow 1\nheader ip_rcv eth\n")
    ran = mctrace.run("packet", "--rules", rules, "-i", case.path, "vlan or ether host 1:2:3:4:5:6")
    if ran.returncode and not ran.stderr.startswith(b"mctrace: none matches\n"):
        wrong.append("with Ethernet's header: " + ran.stderr.decode())
    return wrong


def check_damaged(mctrace, folder):
    """An IPv4 header that is shorter than possible is reported, and not read beyond its end."""
    net = Net()
    net.begin(1)
    net.call("ip_rcv", "1:1", data=bytes(12) + b"\x08\x00\x41" + udp("10.0.0.1", 1, "10.0.0.2", 2, 0)[1:])
    net.end(1)
    rules = os.path.join(folder, "damaged.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("__alloc_skb:follow ret\nkfree_skbmem:unfollow 1\nheader ip_rcv eth\n")
    case = Case(folder, "damaged", net.rec)
    text = mctrace.text("packet", "--rules", rules, "-i", case.path)
    return compare_lists("packet", heads(text), ["#1 IP with a header of 4 bytes"])


def check_labels(mctrace, folder):
    """Labels are printed and select packets; labels of a descendant select its tree, too."""
    net = Net()
    for number, names in ((1, ("eth0", "eth1", "eth0")), (2, ()), (3, ("lo",))):
        net.begin(number)
        for name in names:
            net.call("eth_type_trans", "%d:1" % number, data=name.encode() + b"\0" * 12)
    net.call("__copy_skb_header", "+4:1", "2:2")
    net.call("eth_type_trans", "4:1", data=b"eth7\0")
    for number in range(1, 5):
        net.end(number)
    case = Case(folder, "labels", net.rec)
    all_of = ["#1 dev=eth0,eth1", "#2", "  #4 of #2 dev=eth7", "#3 dev=lo"]
    wrong = compare_lists("all", heads(packet(mctrace, case)), all_of)
    for arguments, wanted in ((("--dev", "lo"), all_of[3:]), (("--dev", "eth*"), all_of[:3]),
                              (("--label", "dev=eth1"), all_of[:1]), (("--dev", "eth7"), all_of[1:3])):
        wrong += compare_lists(" ".join(arguments), heads(packet(mctrace, case, *arguments)), wanted)
    first = json_lines(packet(mctrace, case, "--json"))[0]
    wrong += compare_lists("JSON", [first["labels"], first["events"][0]["comm"],
                                    first["events"][0]["pid"]], [{"dev": ["eth0", "eth1"]}, "nc", 65])
    from_it = ("packet", "--rules", RULES + "/skb.rules", "-i", case.path)
    for arguments in (("--dev", "lo", "--dev", "eth0"), ("--netns", "1")):
        wrong += refused(mctrace, "mctrace: none matches\n", 1, *from_it, *arguments)
    return (wrong + refused(mctrace, "have no label 'path'", 2, *from_it, "--path", "x") +
            refused(mctrace, "--label wants KEY=GLOB", 2, *from_it, "--label", "lo") +
            refused(mctrace, "--dev lo selects a device's packets", 2, "packet", "-i", "lo", "icmp"))


def check_begun(mctrace, folder):
    """Only an object that begins in a task while a function runs gets that function's label."""
    rules = os.path.join(folder, "begun.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("kfree:unfollow 1\nbegins vfs_open path {data:string}\n")
    net = Net()
    opens = net.rec.current[0]
    net.rec.call(0, "vfs_open", data=b"/etc/passwd\0")
    net.run(66, "cat")
    net.begin(1)
    net.rec.run(0, opens)
    net.begin(2)
    net.rec.leave(0)
    net.begin(3)
    net.rec.call(0, "vfs_open")
    net.begin(4)
    net.rec.leave(0)
    case = Case(folder, "begun", net.rec)
    got = mctrace.text("object", "--rules", rules, "-i", case.path)
    some = mctrace.text("object", "--rules", rules, "-i", case.path, "--path", "/etc/*")
    return (compare_lists("head", heads(got), ["#1", "#2 path=/etc/passwd", "#3", "#4"]) +
            compare_lists("some", heads(some), ["#2 path=/etc/passwd"]))


def check_own(mctrace, folder):
    """Objects that only mctrace used are left out; its interrupts are not its own."""
    rules = os.path.join(folder, "own.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("kfree:unfollow 1\n")
    net = Net()
    net.run(67, "mctrace")
    net.begin(1)
    net.call("kfree", "-1:1")
    net.begin(2)
    net.run(65, "nc")
    net.begin(3)
    net.run(67, "mctrace")
    net.call("kfree", "-2:1")
    for number, context in ((4, recordings.CONTEXT_HARDIRQ), (5, 0x100), (6, 0)):
        net.begin(number)
        net.rec.contexts[0] = context
        net.call("dput", "%d:1" % number)
        net.rec.contexts[0] = 0
    net.call("__copy_skb_header", "+7:1", "6:2")
    net.run(65, "nc")
    net.call("kfree", "-3:1")
    case = Case(folder, "own", net.rec)
    got = mctrace.text("object", "--rules", rules, "-i", case.path)
    return compare_lists("head", heads(got), ["#3", "#4", "#5"])


def check_lists(mctrace, folder):
    """Each packet of a list ends with the list's reason."""
    case = Case(folder, "packets in lists", in_lists())
    btf = ("--btf", types(folder))
    dropped, bare = "dropped: SKB_DROP_REASON_QDISC_DROP", "freed in a list, with no reason given"
    wrong = []
    for name, arguments, wanted in (
            ("list", btf, 6 * [dropped] + 2 * [bare] + 2 * ["consumed"]),
            ("without types", (), ["freed, for reason %d" % reason
                                   for reason in 6 * [QDISC_DROP] + 2 * [NOT_SPECIFIED] +
                                   2 * [CONSUMED]])):
        packets = json_lines(packet(mctrace, case, "--json", *arguments))
        packets.sort(key=lambda packet: packet["object"])
        wrong += compare_lists(name, [packet["verdict"] for packet in packets], wanted)
        wrong += compare_lists(name + ": ended", [packet["ended"] for packet in packets], 10 * [True])
    case = Case(folder, "packets in interrupts", in_interrupts())
    got = re.findall("^  ([a-z].*)$", packet(mctrace, case, *btf), re.M)
    return wrong + compare_lists("in interrupts", got, [dropped, "consumed", "consumed"])


def check_task(mctrace, folder):
    case = Case(folder, "packets of a task", cloned())
    return (compare_lists("head", heads(packet(mctrace, case, "--task", "dnsd")), heads(CLONED)) +
            compare_lists("status", [mctrace.run("packet", "--rules", RULES + "/skb.rules", "--input",
                                                 case.path, "--task", "cat", *more).returncode
                                     for more in ([], ["udp"])], [1, 1]))


def check_original(mctrace, folder):
    """A packet without own headers shows those of its first descendant that has some."""
    net = Net()
    net.begin(1)
    for number, parent in ((2, 1), (3, 1), (4, 3), (5, 1)):
        net.call("__copy_skb_header", "+%d:1" % number, "%d:2" % parent)
    net.call("ip_rcv", "5:1", data=tcp("10.0.0.5", 80, "10.0.0.2", 1025, 2))
    net.call("ip_rcv", "4:1", data=tcp("10.0.0.4", 80, "10.0.0.2", 1025, 2))
    for number in range(1, 6):
        net.end(number)
    case = Case(folder, "an original", net.rec)
    four, five = ("TCP 10.0.0.%d:80 > 10.0.0.2:1025 [S], 0 bytes" % number for number in (4, 5))
    return (compare_lists("head", heads(packet(mctrace, case)), [
        "#1 (#4: %s)" % four, "  #2 of #1", "  #3 of #1 (#4: %s)" % four, "    #4 of #3 " + four,
        "  #5 of #1 " + five]) +
            compare_lists("JSON", [line.get("headers") for line in json_lines(packet(mctrace, case, "--json"))],
                          [None, None, None, four, five]))


def check_first(mctrace, folder):
    """--lines prints the first packets, each with its clones; other packets are no missing ones."""
    case = Case(folder, "first packets", reused())
    whole, numbers = blocks(packet(mctrace, case)), [[1], [2], [3, 4]]
    wrong = compare_lists("size", [len(whole)], [3])
    for n in (1, 2, 3, 99):
        wrong += compare_lists("--lines %d" % n, blocks(packet(mctrace, case, "--lines", str(n))), whole[:n])
        lines = json_lines(packet(mctrace, case, "--json", "--lines", str(n)))
        wrong += compare_lists("JSON %d" % n, [line["object"] for line in lines], sum(numbers[:n], []))
    ran = mctrace.run("packet", "--rules", RULES + "/skb.rules", "-i", case.path, "--lines", "1", "src 10.0.0.2")
    return wrong + compare_lists("match", heads(ran.stdout.decode()), REUSED[1:2])


def check_without_rules(mctrace, folder):
    """A recording without followed objects is an error, unless rules were given when it was made."""
    wrong = []
    for command in (["packet"], ["packet", "--task", "nc"], ["packet", "--json"], ["object", "file"]):
        net = Net()
        net.call("vfs_read")
        case = Case(folder, "without rules", net.rec)
        rules = RULES + "/%s.rules" % (command[1:] if command[0] == "object" else ["skb"])[0]
        wrong += refused(mctrace, "%s has no followed objects: record it with --rules %s" % (case.path, rules), 1,
                         command[0], "--rules", rules, *[one for one in command[1:] if one != "file"], "-i", case.path)
    net.rec.info = "rules skb\n"
    case = Case(folder, "with rules", net.rec)
    for command in ("packet", "object"):
        wrong += refused(mctrace, "mctrace: there was none\n", 1, command, "--rules", RULES + "/skb.rules", "-i",
                         case.path)
    net.rec.info = ""
    net.rec.mark(0, "kfree", recordings.MARK_FOLLOW_FULL)
    ran = mctrace.run("packet", "--rules", RULES + "/skb.rules", "-i", Case(folder, "full", net.rec).path)
    return wrong + compare_lists("full", [ran.returncode, ran.stderr], [
        1, b"mctrace: there was none\nmctrace: 1 objects were not followed: too many were followed at once\n"])


def check_where(mctrace, folder):
    """CPUs, times and tasks select packets with such a call, and show all of their calls."""
    net, times = Net(cpus=2), []
    for number, pid, cpu in ((1, 65, 0), (2, 66, 1), (3, 67, 0)):
        times.append(net.rec.now)
        net.run(pid, "nc%d" % pid, cpu)
        net.begin(number)
        net.call("ip_rcv", "%d:1" % number)
        if number == 3:
            net.run(68, "dnsd", 1)
        net.end(number)
    case = Case(folder, "packets of CPUs", net.rec)
    whole = dict(zip("123", blocks(packet(mctrace, case))))
    from_it = ["packet", "--rules", RULES + "/skb.rules", "-i", case.path]
    wrong = compare_lists("lines", [len(block.splitlines()) for block in whole.values()], [5, 5, 5])
    for options, wanted in (
            (["--cpu", "0"], "13"), (["--cpu", "1"], "23"), (["--cpu", "0-1"], "123"),
            (["--time", "%dns.." % times[1]], "23"), (["--time", "..%dns" % times[2]], "12"),
            (["--time", "%dns..%dns" % tuple(times[1:])], "2"), (["--task", "nc*"], "123"),
            (["--pid", "66,68"], "23"), (["--tid", "65"], "1"), (["--comm", "dnsd", "--cpu", "1"], "3"),
            (["--cpu", "1", "--time", "%dns.." % times[2]], "3")):
        wrong += compare_lists(" ".join(options), blocks(packet(mctrace, case, *options)), [whole[nr] for nr in wanted])
    return (wrong + refused(mctrace, "mctrace: none matches\n", 1, *from_it, "--cpu", "1", "--time",
                            "..%dns" % times[1]) +
            refused(mctrace, "there is no CPU 2", 1, *from_it, "--cpu", "2"))


def check_names(mctrace, folder):
    """JSON has a task's name in the same form as the JSON of other commands."""
    names = {"\u00e9" * 7 + "\udcc3": "\u00e9" * 7 + "?", "a\tb": "a?b", "": "<...>", "\uffff!": "???!"}
    net = Net()
    net.begin(1)
    for pid, name in enumerate(names, 66):
        net.run(pid, name)
        net.call("ip_rcv", "1:1")
    net.end(1)
    case = Case(folder, "packets of names", net.rec)
    lines = json_lines(packet(mctrace, case, "--json"))
    got = {event["pid"]: event["comm"] for event in lines[0]["events"] if event["pid"] != 65}
    wrong = compare("packet", got, dict(enumerate(names.values(), 66)))
    tree = {line["pid"]: line["comm"] for line in json_lines(mctrace.text("report", "--tree", "--json", case.path))}
    return wrong + compare("report --tree", {pid: tree.get(pid) for pid in got}, got)


def check_left_over(mctrace, folder):
    """An object in a register that is no argument of the function does not count."""
    net = Net()
    net.begin(1)
    for name in ("local_bh_enable", "udp_rcv"):
        net.call(name, "1:1")
    net.call("udp_rcv", "1:2")
    net.end(1)
    case = Case(folder, "left over", net.rec)
    got = re.findall(r" us CPU 0 \.\.\.\. nc:65 (\w+)", packet(mctrace, case, "--btf", types(folder)))
    return compare_lists("call", got, ["__alloc_skb", "udp_rcv", "kfree_skbmem"])


def check_missing(mctrace, folder):
    rec = cloned()
    rec.mark(0, "kfree", recordings.MARK_FOLLOW_FULL)
    rec.overwritten, rec.lost, rec.seen = 700, 30, rec.entries
    rec.info = "reused 3\n"
    case = Case(folder, "packets overwritten", rec)
    ran = mctrace.run("packet", "--rules", RULES + "/skb.rules", "-i", case.path)
    return compare_lists("line", ran.stderr.decode().splitlines(), [
        "mctrace: 1 objects were not followed: too many were followed at once",
        "mctrace: 3 objects were allocated again: the rules lack an end",
        "mctrace: of %d calls and returns 700 were overwritten and 30 lost: "
        "try --buffer-size" % (rec.entries + 730)])


def check_object(mctrace, folder):
    """Rules that a user has written."""
    rules = os.path.join(folder, "own.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("# mine\nkfree:unfollow 1\n\n"
                   "verdict dput:1 put by {comm}: {arg2} {arg9} {what}\n")
    net = Net()
    net.rec.call(0, "dput", objects=["+1:1"], args=[1, 255])
    net.rec.leave(0)
    net.rec.call(0, "kfree", objects=["-1:1"])
    case = Case(folder, "an object", net.rec)
    text = mctrace.text("object", "--rules", rules, "-i", case.path)
    return compare_lists("line", text.splitlines(), [
        "#1", "  +0.000 us CPU 0 .... nc:65 dput <-- do_syscall_64",
        "  +0.004 us CPU 0 .... nc:65 kfree <-- do_syscall_64", "  put by nc: 0xff ? ?"])


def check_conditions(mctrace, folder):
    """Verdicts with conditions on values."""
    rules = os.path.join(folder, "conditions.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("kfree:unfollow 1\n"
                   "verdict dput:1 {arg2}=0x1 {arg3}!=0x2 one, and not two\n"
                   "verdict dput:1 {arg2}=0x1 one\n"
                   "verdict dput:1 {arg2}!=0x3 not three\n"
                   "verdict dput:1 {arg2}=\n"
                   "verdict dput:1 {comm}=nc {pid}=65 {comm} ({pid})\n")
    net = Net()
    values = ((1, 1), (1, 2), (2, 2), (3, 2))
    for number, (two, three) in enumerate(values, 1):
        net.rec.call(0, "dput", objects=["+%d:1" % number], args=[1, two, three])
        net.rec.leave(0)
        net.rec.call(0, "kfree", objects=["-%d:1" % number])
        net.rec.leave(0)
    case = Case(folder, "conditions", net.rec)
    got = re.findall("^  ([^ +].*)$", mctrace.text("object", "--rules", rules, "-i", case.path), re.M)
    return compare_lists("verdict", got, ["one, and not two", "one", "not three", "0x3="])


def triggers(folder, mctrace, lines, functions, *arguments):
    paths = [os.path.join(folder, name) for name in ("some.rules", "functions")]
    for path, content in zip(paths, (lines, functions)):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(content) + "\n")
    return mctrace.run("object", "--triggers", "--rules", paths[0], "--functions", paths[1],
                       *arguments)


def check_rules(mctrace, folder):
    functions = ["skb_clone", "kfree [net]", "core.constprop.0", "core.constprop.0.cold",
                 "core_more", "kfree", "init [one]", "init [two]"]
    wrong = []

    def gives(lines, wanted, *arguments):
        ran = triggers(folder, mctrace, lines, functions, *arguments)
        said, got = ran.stderr.decode(), ran.stdout.decode()
        if ran.returncode != (1 if said else 0):
            wrong.append("%s: status %d" % (lines, ran.returncode))
        if wanted not in said if said else got != wanted:
            wrong.append("%s: %s, not %s" % (lines, said or got, wanted))

    blob = ("--btf", types(folder))
    gives(["kfree:unfollow 1", " # no", "", "verdict kfree gone"], "kfree:unfollow 1\n")
    gives(["core:follow 1"], "core.constprop.0:follow 1\n")
    gives(["core*:follow 1"], "core.constprop.0:follow 1\ncore_more:follow 1\n")
    gives(["init:follow 1"], "init:follow 1\n")
    gives(["kfree:unfollow 3[2]"], "kfree:unfollow 3[2]\n")
    gives(["nothing:follow 1"], "some.rules, line 1: this kernel has no function nothing")
    gives(["?nothing:follow 1", "?kfree:follow 2"], "kfree:follow 2\n")
    gives(["kfree:data 1->{sk_buff.head}+{sk_buff.network_header},84"],
          "kfree:data 1->32+24,84\n", *blob)
    gives(["kfree:data 1->{sk_buff.data} {sk_buff.mark} {sk_buff.headers.copied}"],
          "kfree:data 1->40 20 24\n", *blob)
    gives(["kfree:data {sk_buff.flag}"],
          "types have no 'sk_buff.flag', or it is a bit field", *blob)
    gives(["kfree:data {sk_buff.nothing}"],
          "line 1: the kernel's types have no 'sk_buff.nothing', or", *blob)
    gives(["?nothing:data {nothing.at_all}"], "none of these functions", *blob)
    gives(["kfree"], "line 1: a rule is FUNCTION:ACTION or a keyword with values")
    gives(["kfree:unfollow 1", "label kfree dev"], "line 2: a label wants a function, a key and")
    gives(["", "kfree:follow 1 -> 9"], "line 2: 'follow N -> M' wants")
    gives(["header kfree ipx"], "headers are 'eth', 'ip' or 'never'")
    gives(["verdict kfree"], "wants a function and a text")
    gives(["kfree:data {sk_buff.head"], "a brace is not closed", *blob)
    return wrong


def check_sets(mctrace, folder):
    """All shipped rule sets can be read; without any of their functions mctrace fails."""
    wrong = []
    for name in SETS:
        path = os.path.join(RULES, name + ".rules")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        ran = triggers(folder, mctrace, lines, ["__alloc_skb"], "--btf", types(folder))
        wanted = b"__alloc_skb:follow ret\n" if name == "skb" else b""
        if bool(ran.returncode) == bool(wanted) or ran.stdout != wanted:
            wrong.append("%s: %s%s" % (name, ran.stdout.decode(), ran.stderr.decode()))
    return wrong


def write_in_order(path, rec, parts):
    """Write the file in time order, as a recorder does."""
    with open(path, "wb") as file:
        recordings.write_header(file)
        recordings.write_text(file, recordings.INFO, rec.info_text())
        recordings.write_text(file, recordings.SYMBOLS, rec.functions.kallsyms())
        for part in parts:
            recordings.write_words(file, *part)
        recordings.write_end(file, rec.counts(), rec.entries)


class Many:
    """Random packets on several CPUs."""
    def __init__(self, seed):
        self.rec = recordings.Recording(cpus=3, seed=seed, context=True, notes=4096)
        self.rng = self.rec.rng
        self.rec.functions.load("net", NAMES, 0xffffffffc0400000)
        for cpu in range(3):
            self.rec.run(cpu, self.rec.task(60 + cpu, "task%d" % cpu))
        self.alive = []
        self.nr = 0
        self.done = [0] * 3     # words that are in self.parts, by CPU
        self.parts = []

    def look(self):
        for cpu, ring in enumerate(self.rec.rings):
            pos, words = ring.runs[0]
            new = words[self.done[cpu]:].tobytes()
            if new:
                self.parts.append((ring, pos + 8 * self.done[cpu], new))
            self.done[cpu] = len(words)

    def begin(self):
        self.nr += 1
        self.alive.append(self.nr)
        return self.nr

    def step(self, cpu):
        rec, chance = self.rec, self.rng.random()
        name, objects, result, data = "tcp_v4_rcv", [], [], b""
        rec.wait(self.rng.choice([100, 1000, 50000, 1000000]))
        if len(self.alive) < 3 or chance < 0.1:
            name, result = "__alloc_skb", ["+%d:ret" % self.begin()]
        else:
            old = self.rng.choice(self.alive)
            objects = ["%d:1" % old]
            if chance < 0.2:
                name, objects = "__copy_skb_header", ["+%d:1" % self.begin(), "%d:2" % old]
            elif chance < 0.35:
                name, objects = "kfree_skbmem", ["-%d:1" % old]
                self.alive.remove(old)
            elif chance < 0.5:
                name, data = "ip_rcv", udp("10.0.0.%d" % (old % 9), old, "10.0.0.2", 2, 9)
        rec.call(cpu, name, objects=objects, data=data)
        rec.leave(cpu, objects=result)


def blocks(text):
    return sorted(text.rstrip("\n").split("\n\n"))


def check_growing(mctrace, folder, growing):
    """A growing recording gives the same output, though not always in the same order."""
    many = Many(7)
    for i in range(8000):
        if not i % 50:
            many.look()
        many.step(many.rng.randrange(3) if i > 1000 else 0)     # two CPUs come late
    many.look()
    path = os.path.join(folder, "many.dat")
    write_in_order(path, many.rec, many.parts)
    wanted = blocks(mctrace.text("packet", "--rules", RULES + "/skb.rules", "-i", path))
    wrong = []
    for size in (4000, 30000, 1 << 20):
        environment = dict(os.environ, GROWING=path, GROWING_BY=str(size))
        ran = subprocess.run([growing, "packet", "--rules", RULES + "/skb.rules"], env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                             timeout=TIMEOUT)
        if ran.returncode or ran.stderr:
            wrong.append("status %d, and it says '%s'" % (ran.returncode, ran.stderr.decode()))
        wrong += compare_lists("%d bytes: block" % size, blocks(ran.stdout.decode()), wanted)
    return wrong


def check_dropped(mctrace, folder, growing):
    """A growing recording takes little of the disk: what was read is freed."""
    many = Many(8)
    for i in range(60000):
        if not i % 50:
            many.look()
        many.step(many.rng.randrange(3) if i < 20000 else 0)    # two CPUs become idle
    many.look()
    path, grown = os.path.join(folder, "dropped.dat"), os.path.join(folder, "grown")
    write_in_order(path, many.rec, many.parts)
    size, step = os.path.getsize(path), 20000
    environment = dict(os.environ, GROWING=path, GROWING_BY=str(step), GROWN=grown)
    ran = subprocess.run([growing, "packet", "--rules", RULES + "/skb.rules"], env=environment, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False, timeout=TIMEOUT)
    with open(grown, encoding="utf-8") as file:
        most = int(file.read())
    wanted = blocks(mctrace.text("packet", "--rules", RULES + "/skb.rules", "-i", path))
    symbols = len(many.rec.functions.kallsyms())
    room = symbols + 8 * step + 3 * 65536       # what is held back, and a part of a step of freeing
    return compare_lists("block", blocks(ran.stdout.decode()), wanted) + (
        [] if most < room and size > 3 * room else ["%d bytes of %d, not less than %d" % (most, size, room)])


def endless(nr):
    """Objects that never end, 20 ms apart."""
    net = Net()
    for number in range(1, nr + 1):
        net.rec.wait(20000000)
        net.begin(number)
    return net.rec


def chain(nr):
    """A clone of a clone of a clone."""
    net = Net()
    net.begin(1)
    for number in range(2, nr + 1):
        net.rec.call(0, "__copy_skb_header", objects=["+%d:1" % number, "%d:2" % (number - 1)])
        net.rec.leave(0)
    net.end(nr)
    return net.rec


def many_labels(nr):
    """One object with many values of two labels."""
    net = Net()
    net.begin(1)
    for key in ("ip_rcv", "udp_rcv"):
        for value in range(nr // 2):
            net.rec.call(0, key, objects=["1:1"], data=b"%d\0" % value)
            net.rec.leave(0)
    return net.rec


def never_returning(nr):
    """Calls of many tasks that don't return, each with an object of its own."""
    net = Net()
    for number in range(1, nr + 1):
        net.run(1000 + number, "nc")
        net.rec.call(0, "tcp_v4_rcv", objects=["+%d:1" % number], data=b"name\0")
    for number in range(1, nr + 1):
        net.run(1000 + number, "nc")
        net.end(number)
    return net.rec


def several_returning(nr):
    """Many calls of one task and function that don't return, each with an object of its own, which ends later."""
    net = Net()
    for number in range(1, nr + 1):
        net.rec.call(0, "tcp_v4_rcv", objects=["+%d:1" % number])
        net.rec.current[0].stack.clear()
        net.rec.current[0].known.clear()
    for number in range(1, nr + 1):
        net.end(number)
    return net.rec


MOST_MEMORY = 64        # bytes of memory for a byte of the file
GROWING_RULES = """kfree:unfollow 1
label ip_rcv:1 one {data:string}
label udp_rcv:1 two {data:string}
begins tcp_v4_rcv name {data:string}
verdict tcp_v4_rcv:1 {ret:int}=0 received
"""


def check_growth(mctrace, folder):
    """The time that objects take is not quadratic in their number, depth, labels, or pending returns."""
    rules = os.path.join(folder, "growing.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write(GROWING_RULES)
    wrong = []
    for make in (endless, chain, many_labels, never_returning, several_returning):
        wrong += growth(mctrace, lambda size, make=make: Case(folder, "%s %d" % (make.__name__, size), make(size)),
                        "object", "--rules", rules, "-i")
    return wrong


def check_deep(mctrace, folder):
    """A tree of clones may be as deep as a recording is long."""
    nr = 70000
    case = Case(folder, "deep clones", chain(nr))
    ran = subprocess.run([mctrace.path, "packet", "--json", "--rules", RULES + "/skb.rules", "-i", case.path],
                         stdout=subprocess.PIPE, timeout=TIMEOUT, check=False)      # checking its schema takes long
    lines = json_lines(ran.stdout.decode())
    wrong = compare_lists("JSON", [ran.returncode, len(lines)] + [lines[-1][key] for key in ("parent", "ended")]
                          if lines else [ran.returncode], [0, nr, nr - 1, True])
    if wrong:
        return wrong            # the text would be as long as the square of the depth
    text = heads(packet(mctrace, case))
    return compare_lists("head", [len(text), text[0], text[1], text[-1]], [
        nr, "#1", "  #2 of #1", 62 * " " + "#%d of #%d" % (nr, nr - 1)])


def check_memory(mctrace, folder):
    """Objects take memory in proportion to the file, also if each has only one event and no end."""
    net = Net()
    nr = 40000
    for number in range(1, nr, 4):
        net.rec.call(0, "ip_rcv", objects=["+%d:%d" % (number + i, i + 1) for i in range(4)])
    case = Case(folder, "much memory", net.rec)
    used = peak(mctrace, "packet", "--rules", RULES + "/skb.rules", "-i", case.path) - \
        peak(mctrace, "packet", "--rules", RULES + "/skb.rules", "-i", Case(folder, "little memory", endless(1)).path)
    size = os.path.getsize(case.path)
    return [] if used < MOST_MEMORY * size else ["%d bytes for a file of %d" % (used, size)]


def check_holes(mctrace, folder):
    """A hole in the recording is shown in the packets that it may concern, and joins no call with a later return."""
    wrong, line = [], "# calls are missing here"

    def begin(name):
        net = Net(cpus=2)
        for number in (1, 2):
            net.begin(number)
            net.call("__udp_enqueue_schedule_skb", "%d:2" % number)
        net.begin(3)
        net.end(3)
        net.rec.call(0, "skb_copy_datagram_iter", objects=["1:1"])
        net.run(66, "dnsd", 1)
        net.rec.call(1, "dput")
        if name == "mark":
            net.rec.mark(1, "kfree", recordings.MARK_OFF)
        elif name == "overwritten":
            net.rec.lose(1)
            net.rec.call(1, "kfree")
            net.rec.found(1, True)
        else:
            net.rec.rings[1].lose(*name)
        net.call("kfree")
        return net

    for name in ((5, False), (0, True), (0, False), "overwritten", "mark"):
        net = begin(name)
        net.cpu = 0
        net.rec.leave(0, result=0)
        net.call("ip_rcv", "1:1")
        net.end(1)
        case = Case(folder, "holes %s" % str(name), net.rec)
        text = packet(mctrace, case).splitlines()
        behind = [text[i + 1] for i, one in enumerate(text) if one.strip() == line]
        wrong += compare_lists("%s: hole" % str(name), [re.sub(".*:65 (\\w+) .*", r"\1", one) for one in behind], [
            "ip_rcv", "  left in a UDP socket's queue, not freed when recording ended"])
        got = {one["object"]: [one.get("lost"), one["ended"], one.get("verdict"),
                               [event["name"] for event in one["events"] if event.get("lost")]]
               for one in json_lines(packet(mctrace, case, "--json"))}
        wrong += compare("%s: packet" % str(name), got, {
            1: [None, True, "consumed", ["ip_rcv"]], 2: [True, False, "left in a UDP socket's queue", []],
            3: [None, True, "consumed", []]})
    return wrong


def check_begun_before_hole(mctrace, folder):
    """A label that a function gives ends at a hole: its return may be missing."""
    rules = os.path.join(folder, "begun.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("kfree:unfollow 1\nbegins vfs_open path {data:string}\n")
    net = Net()
    net.rec.call(0, "vfs_open", data=b"/etc/passwd\0")
    net.begin(1)
    net.rec.rings[0].lose(3)
    net.begin(2)
    case = Case(folder, "begun before a hole", net.rec)
    return compare_lists("head", heads(mctrace.text("object", "--rules", rules, "-i", case.path)),
                         ["#1 path=/etc/passwd", "#2"])


def tests(libraries):
    """Yield name, check, and the reason to skip it, a missing library, or None."""
    for name, check, needs in (
            ("report: objects and memory", check_lines, None),
            ("packet: a clone", check_clone, None),
            ("packet: of all kinds", check_kinds, "libbpf"),
            ("packet: expressions that match", check_expressions, "libpcap"),
            ("packet: invalid expressions", check_bad_expression, "libpcap"),
            ("packet: a reused address is another packet", check_reused, "libpcap"),
            ("packet: packets that never have headers", check_never, "libpcap"),
            ("packet: expressions that can't be matched", check_unmatched, "libpcap"),
            ("packet: a damaged header", check_damaged, None),
            ("packet: labels", check_labels, None),
            ("object: labels of objects that begin in a call", check_begun, None),
            ("object: what only mctrace used", check_own, None),
            ("packet: lists of packets end, and why", check_lists, "libbpf"),
            ("packet: the last event decides", check_fates, "libbpf"),
            ("packet: a kernel without tracepoints", check_no_tracepoints, "libbpf"),
            ("packet: of a task", check_task, "libpcap"),
            ("packet: an original without headers", check_original, None),
            ("packet: the first packets", check_first, "libpcap"),
            ("packet: a recording without rules", check_without_rules, None),
            ("packet: of CPUs and times", check_where, None),
            ("packet: names of tasks", check_names, None),
            ("packet: registers that are no arguments", check_left_over, "libbpf"),
            ("packet: missing calls are reported", check_missing, None),
            ("object: a user's own rules", check_object, None),
            ("packet: holes in the recording", check_holes, None),
            ("object: labels before a hole", check_begun_before_hole, None),
            ("object: time by the number of objects", check_growth, None),
            ("packet: a deep tree of clones", check_deep, None),
            ("packet: memory by the size of the file", check_memory, None),
            ("rules: verdicts with conditions", check_conditions, None),
            ("rules: the triggers that they become", check_rules, "libbpf"),
            ("rules: all shipped sets", check_sets, "libbpf")):
        missing = needs and needs not in libraries
        yield name, check, "there is no " + needs if missing else None
