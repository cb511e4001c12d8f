/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The entry points of mctrace's commands. Each gets the command's name as argv[0] and returns an
 * exit status.
 */
#ifndef _MCTRACE_MCTRACE_H
#define _MCTRACE_MCTRACE_H

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_slow(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_packet(int argc, char **argv);
int cmd_object(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_stream(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_reset(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);

#endif /* _MCTRACE_MCTRACE_H */
