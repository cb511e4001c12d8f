// SPDX-License-Identifier: GPL-2.0
/*
 * usage: failing
 *
 * Makes each system call of 64-bit x86 fail that can fail, most by arguments that are all -1, and
 * prints "NAME ERRNO" for each, with the name of the kernel's function. A call that succeeded or
 * did not return has "-" in place of the number. A child of its own makes each call, so that no
 * call affects the others.
 *
 * Left out, because they can't fail: getpid, getuid, getgid, geteuid, getegid, getppid,
 * getpgrp, gettid, umask, sync, sched_yield, alarm, exit, exit_group, setfsuid, setfsgid,
 * personality, set_tid_address, munlockall, brk, which returns the end of the heap, and, as
 * root, fork and vfork without a limit of memory. rt_sigreturn is left out because it returns
 * another call's result.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MISSING	"/nonexist/file"

enum how { PLAIN, NOBODY, LEADER, NO_FILES, SIGNAL };

static char buffer[4096];

#define ENTRY(how, nr, name, a, b, c, d, e, f, ...)	\
	{ #name, how, nr, { (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f) } },
#define BAD(nr, name)			ENTRY(PLAIN, nr, name, -1, -1, -1, -1, -1, -1)
#define CALL(nr, name, ...)		ENTRY(PLAIN, nr, name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define AS_NOBODY(nr, name, ...)	ENTRY(NOBODY, nr, name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define AS_LEADER(nr, name, ...)	ENTRY(LEADER, nr, name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define FULL(nr, name, ...)		ENTRY(NO_FILES, nr, name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define SIGNALLED(nr, name, ...)	ENTRY(SIGNAL, nr, name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define LOCKED	-2	/* a file that another descriptor has locked */

static const struct {
	const char *name;
	enum how how;
	long nr;
	long args[6];
} calls[] = {
	BAD(0, read) BAD(1, write) BAD(3, close) BAD(5, newfstat) BAD(7, poll) BAD(8, lseek)
	BAD(10, mprotect) BAD(11, munmap) BAD(13, rt_sigaction) BAD(14, rt_sigprocmask)
	BAD(16, ioctl) BAD(17, pread64) BAD(18, pwrite64) BAD(19, readv) BAD(20, writev)
	BAD(22, pipe) BAD(23, select) BAD(26, msync) BAD(27, mincore) BAD(28, madvise)
	BAD(30, shmat) BAD(31, shmctl) BAD(33, dup2) BAD(35, nanosleep) BAD(36, getitimer)
	BAD(38, setitimer) BAD(40, sendfile64) BAD(42, connect) BAD(43, accept) BAD(44, sendto)
	BAD(45, recvfrom) BAD(46, sendmsg) BAD(47, recvmsg) BAD(48, shutdown) BAD(49, bind)
	BAD(50, listen) BAD(51, getsockname) BAD(52, getpeername) BAD(53, socketpair)
	BAD(54, setsockopt) BAD(55, getsockopt) BAD(63, newuname) BAD(65, semop) BAD(66, semctl)
	BAD(67, shmdt) BAD(69, msgsnd) BAD(70, msgrcv) BAD(71, msgctl) BAD(72, fcntl)
	BAD(74, fsync) BAD(75, fdatasync) BAD(77, ftruncate) BAD(78, getdents) BAD(81, fchdir)
	BAD(86, link) BAD(88, symlink) BAD(91, fchmod) BAD(93, fchown) BAD(94, lchown)
	BAD(96, gettimeofday) BAD(97, getrlimit) BAD(98, getrusage) BAD(99, sysinfo)
	BAD(100, times) BAD(101, ptrace) BAD(103, syslog) BAD(109, setpgid) BAD(115, getgroups)
	BAD(116, setgroups) BAD(118, getresuid) BAD(120, getresgid) BAD(121, getpgid)
	BAD(124, getsid) BAD(125, capget) BAD(126, capset) BAD(127, rt_sigpending)
	BAD(128, rt_sigtimedwait) BAD(129, rt_sigqueueinfo) BAD(130, rt_sigsuspend)
	BAD(131, sigaltstack) BAD(132, utime) BAD(136, ustat) BAD(138, fstatfs) BAD(139, sysfs)
	BAD(140, getpriority) BAD(141, setpriority) BAD(142, sched_setparam)
	BAD(143, sched_getparam) BAD(144, sched_setscheduler) BAD(145, sched_getscheduler)
	BAD(146, sched_get_priority_max) BAD(147, sched_get_priority_min)
	BAD(148, sched_rr_get_interval) BAD(149, mlock) BAD(150, munlock) BAD(154, modify_ldt)
	BAD(155, pivot_root) BAD(157, prctl) BAD(158, arch_prctl) BAD(159, adjtimex)
	BAD(160, setrlimit) BAD(171, setdomainname) BAD(173, ioperm) BAD(176, delete_module)
	BAD(179, quotactl) BAD(187, readahead) BAD(188, setxattr) BAD(189, lsetxattr)
	BAD(190, fsetxattr) BAD(192, lgetxattr) BAD(193, fgetxattr) BAD(194, listxattr)
	BAD(195, llistxattr) BAD(196, flistxattr) BAD(197, removexattr) BAD(198, lremovexattr)
	BAD(199, fremovexattr) BAD(200, tkill) BAD(201, time) BAD(203, sched_setaffinity)
	BAD(204, sched_getaffinity) BAD(206, io_setup) BAD(207, io_destroy) BAD(208, io_getevents)
	BAD(209, io_submit) BAD(210, io_cancel) BAD(216, remap_file_pages) BAD(217, getdents64)
	BAD(219, restart_syscall) BAD(220, semtimedop) BAD(221, fadvise64) BAD(222, timer_create)
	BAD(223, timer_settime) BAD(224, timer_gettime) BAD(225, timer_getoverrun)
	BAD(226, timer_delete) BAD(227, clock_settime) BAD(228, clock_gettime)
	BAD(229, clock_getres) BAD(230, clock_nanosleep) BAD(232, epoll_wait) BAD(233, epoll_ctl)
	BAD(234, tgkill) BAD(235, utimes) BAD(237, mbind) BAD(238, set_mempolicy)
	BAD(239, get_mempolicy) BAD(240, mq_open) BAD(241, mq_unlink) BAD(242, mq_timedsend)
	BAD(243, mq_timedreceive) BAD(244, mq_notify) BAD(245, mq_getsetattr) BAD(246, kexec_load)
	BAD(248, add_key) BAD(249, request_key) BAD(250, keyctl) BAD(251, ioprio_set)
	BAD(252, ioprio_get) BAD(255, inotify_rm_watch) BAD(256, migrate_pages) BAD(258, mkdirat)
	BAD(259, mknodat) BAD(260, fchownat) BAD(261, futimesat) BAD(263, unlinkat)
	BAD(264, renameat) BAD(265, linkat) BAD(266, symlinkat) BAD(267, readlinkat)
	BAD(268, fchmodat) BAD(269, faccessat) BAD(270, pselect6) BAD(271, ppoll) BAD(272, unshare)
	BAD(273, set_robust_list) BAD(274, get_robust_list) BAD(275, splice) BAD(276, tee)
	BAD(277, sync_file_range) BAD(278, vmsplice) BAD(279, move_pages) BAD(281, epoll_pwait)
	BAD(282, signalfd) BAD(283, timerfd_create) BAD(285, fallocate) BAD(286, timerfd_settime)
	BAD(287, timerfd_gettime) BAD(288, accept4) BAD(289, signalfd4) BAD(290, eventfd2)
	BAD(291, epoll_create1) BAD(292, dup3) BAD(293, pipe2) BAD(294, inotify_init1)
	BAD(295, preadv) BAD(296, pwritev) BAD(297, rt_tgsigqueueinfo) BAD(298, perf_event_open)
	BAD(299, recvmmsg) BAD(300, fanotify_init) BAD(301, fanotify_mark) BAD(302, prlimit64)
	BAD(303, name_to_handle_at) BAD(304, open_by_handle_at) BAD(305, clock_adjtime)
	BAD(306, syncfs) BAD(307, sendmmsg) BAD(308, setns) BAD(309, getcpu)
	BAD(310, process_vm_readv) BAD(311, process_vm_writev) BAD(312, kcmp)
	BAD(313, finit_module) BAD(314, sched_setattr) BAD(315, sched_getattr) BAD(316, renameat2)
	BAD(317, seccomp) BAD(318, getrandom) BAD(320, kexec_file_load) BAD(321, bpf)
	BAD(322, execveat) BAD(323, userfaultfd) BAD(324, membarrier) BAD(325, mlock2)
	BAD(326, copy_file_range) BAD(327, preadv2) BAD(328, pwritev2) BAD(329, pkey_mprotect)
	BAD(330, pkey_alloc) BAD(331, pkey_free) BAD(333, io_pgetevents) BAD(334, rseq)
	BAD(424, pidfd_send_signal) BAD(425, io_uring_setup) BAD(426, io_uring_enter)
	BAD(427, io_uring_register) BAD(428, open_tree) BAD(429, move_mount) BAD(430, fsopen)
	BAD(431, fsconfig) BAD(432, fsmount) BAD(433, fspick) BAD(434, pidfd_open) BAD(435, clone3)
	BAD(436, close_range) BAD(437, openat2) BAD(438, pidfd_getfd) BAD(439, faccessat2)
	BAD(440, process_madvise) BAD(441, epoll_pwait2) BAD(442, mount_setattr)
	BAD(443, quotactl_fd) BAD(444, landlock_create_ruleset) BAD(445, landlock_add_rule)
	BAD(446, landlock_restrict_self) BAD(447, memfd_secret) BAD(448, process_mrelease)
	BAD(449, futex_waitv) BAD(450, set_mempolicy_home_node) BAD(451, cachestat)
	BAD(452, fchmodat2) BAD(453, map_shadow_stack) BAD(454, futex_wake) BAD(455, futex_wait)
	BAD(456, futex_requeue) BAD(457, statmount) BAD(458, listmount) BAD(459, lsm_get_self_attr)
	BAD(460, lsm_set_self_attr) BAD(461, lsm_list_modules) BAD(462, mseal)
	CALL(2, open, MISSING)
	CALL(4, newstat, MISSING, &buffer)
	CALL(6, newlstat, MISSING, &buffer)
	CALL(9, mmap, NULL, 4096, 0, 0, -1, 0)
	CALL(21, access, MISSING, 0)
	CALL(25, mremap, 0, 4096, 8192, 0, 0)
	CALL(29, shmget, -1, 4096, 0)
	FULL(32, dup, 0)
	SIGNALLED(34, pause, 0)
	CALL(41, socket, 1000, 1, 0)
	CALL(56, clone, 0x300)
	CALL(59, execve, MISSING, NULL, NULL)
	CALL(61, wait4, -1, NULL, 0, NULL)
	CALL(62, kill, 1, -1)
	CALL(64, semget, -1, 1, 0)
	CALL(68, msgget, -1, 0)
	CALL(73, flock, LOCKED, 6)
	CALL(76, truncate, MISSING, 0)
	CALL(79, getcwd, &buffer, 1)
	CALL(80, chdir, MISSING)
	CALL(82, rename, MISSING, MISSING)
	CALL(83, mkdir, MISSING, 0)
	CALL(84, rmdir, MISSING)
	CALL(85, creat, MISSING)
	CALL(87, unlink, MISSING)
	CALL(89, readlink, MISSING, &buffer, 1)
	CALL(90, chmod, MISSING, 0)
	CALL(92, chown, MISSING, 0, 0)
	AS_NOBODY(105, setuid, 0)
	AS_NOBODY(106, setgid, 0)
	AS_LEADER(112, setsid, 0)
	AS_NOBODY(113, setreuid, 0, 0)
	AS_NOBODY(114, setregid, 0, 0)
	AS_NOBODY(117, setresuid, 0, 0, 0)
	AS_NOBODY(119, setresgid, 0, 0, 0)
	CALL(133, mknod, MISSING, 0, 0)
	CALL(137, statfs, MISSING, &buffer)
	CALL(151, mlockall, -1)
	AS_NOBODY(153, vhangup, 0)
	CALL(161, chroot, MISSING)
	CALL(163, acct, MISSING)
	AS_NOBODY(164, settimeofday, &buffer, NULL)
	CALL(165, mount, MISSING, MISSING, "tmpfs", 0, NULL)
	CALL(166, umount, MISSING, 0)
	CALL(167, swapon, MISSING, 0)
	CALL(168, swapoff, MISSING)
	AS_NOBODY(169, reboot, 0xfee1dead, 672274793, 0, NULL)
	AS_NOBODY(170, sethostname, "x", 1)
	AS_NOBODY(172, iopl, 3)
	CALL(175, init_module, &buffer, 1, "")
	CALL(191, getxattr, MISSING, "user.x", &buffer, 1)
	CALL(202, futex, NULL, 0, 0, NULL)
	FULL(213, epoll_create, 1)
	CALL(247, waitid, 0, 0, &buffer, 4, NULL)
	FULL(253, inotify_init, 0)
	CALL(254, inotify_add_watch, -1, MISSING, 1)
	CALL(257, openat, AT_FDCWD, MISSING, 0)
	CALL(262, newfstatat, AT_FDCWD, MISSING, &buffer, 0)
	CALL(280, utimensat, AT_FDCWD, MISSING, NULL, 0)
	FULL(284, eventfd, 0)
	FULL(319, memfd_create, "x", 0)
	CALL(332, statx, AT_FDCWD, MISSING, 0, 0, &buffer)
};

#define NR_CALLS	(sizeof(calls) / sizeof(calls[0]))

static void nothing(int sig)
{
	(void)sig;
}

/* Make calls that wait end after a tenth of a second. */
static void set_alarm(void)
{
	struct sigaction action = { .sa_handler = nothing };
	struct itimerval timer = { .it_value.tv_usec = 100000 };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void prepare(enum how how)
{
	struct rlimit none = { 0, 0 };

	set_alarm();
	switch (how) {
	case NOBODY:
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(1);
		break;
	case LEADER:
		setsid();
		break;
	case NO_FILES:
		setrlimit(RLIMIT_NOFILE, &none);
		break;
	default:
		break;
	}
}

static int open_locked(void)
{
	int one = open("failing.lock", O_CREAT | O_RDWR, 0600);

	if (one < 0 || flock(one, LOCK_EX))
		_exit(1);
	return open("failing.lock", O_RDWR);
}

static void make_call(size_t i, int *error)
{
	const long *a = calls[i].args;
	long first = a[0] == LOCKED ? open_locked() : a[0];

	prepare(calls[i].how);
	if (syscall(calls[i].nr, first, a[1], a[2], a[3], a[4], a[5]) == -1)
		*error = errno;
	_exit(0);
}

int main(void)
{
	int *errors = mmap(NULL, NR_CALLS * sizeof(*errors), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	size_t i;

	if (errors == MAP_FAILED)
		return 1;
	for (i = 0; i < NR_CALLS; i++) {
		pid = fork();
		if (!pid)
			make_call(i, &errors[i]);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
		if (errors[i])
			printf("%s %d\n", calls[i].name, errors[i]);
		else
			printf("%s -\n", calls[i].name);
	}
	return 0;
}
