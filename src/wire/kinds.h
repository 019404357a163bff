/* kinds.h - every kind of event, once: its number, its name and its fields.
 * The same number is used in a ring's records, in a file's event streams and in the file's schema, so a
 * kind is added here and nowhere else. Numbers are on disk: never reuse one, never change a field list
 * (a new field needs a new kind).  docs/ring-protocol.md, docs/file-format.md.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_KINDS_H
#define STROBE_WIRE_KINDS_H

/* Field letters, one per field, in order:
 *   u  unsigned 64-bit                 in a ring: one word    in a file: varint
 *   i  signed 64-bit                   in a ring: one word    in a file: zigzag varint
 *   d  IEEE double                     in a ring: one word    in a file: 8 bytes
 *   n  name: id of a string            in a ring: one word    in a file: varint
 *   l  source location: id of a loc    in a ring: one word    in a file: varint
 *   s  text                            in a ring: length word, then bytes padded to a word
 *                                      in a file: varint length, bytes
 *   a  list of u                       in a ring: count word, then words
 *                                      in a file: varint count, then zigzag varints of differences
 * STR_PIECE records hold what does not fit: their texts go before the last text of the next record. */

/* X(NAME, number, "csv name", "fields", "names of the fields") */
#define STROBE_KIND_LIST(X)                                                         \
    X(ZONE_END, 0, "zone_end", "", "")                                              \
    X(ZONE_END_POP, 1, "zone_end_pop", "u", "n_unfinished")                         \
    X(ZONE_END_AT, 2, "zone_end_at", "l", "location")                               \
    X(STR_PIECE, 3, "str_piece", "s", "text")                                       \
    X(ZONE_TEXT, 4, "zone_text", "s", "text")                                       \
    X(ZONE_NAME, 5, "zone_name", "s", "name")                                       \
    X(ZONE_VALUE, 6, "zone_value", "u", "value")                                    \
    X(ZONE_COLOR, 7, "zone_color", "u", "color")                                    \
    X(MESSAGE, 8, "message", "uus", "severity,color,text")                          \
    X(PLOT_INT, 9, "plot_int", "ni", "plot,value")                                  \
    X(PLOT_DOUBLE, 10, "plot_double", "nd", "plot,value")                           \
    X(FRAME_MARK, 11, "frame", "n", "frame")                                        \
    X(FRAME_START, 12, "frame_start", "n", "frame")                                 \
    X(FRAME_END, 13, "frame_end", "n", "frame")                                     \
    X(MEM_ALLOC, 14, "alloc", "nuu", "pool,address,size")                           \
    X(MEM_FREE, 15, "free", "nu", "pool,address")                                   \
    X(LOCK_WAIT, 16, "lock_wait", "uu", "lock,shared")                              \
    X(LOCK_OBTAIN, 17, "lock_obtain", "uu", "lock,shared")                          \
    X(LOCK_RELEASE, 18, "lock_release", "uu", "lock,shared")                        \
    X(FIBER_ENTER, 19, "fiber_enter", "u", "fiber")                                 \
    X(FIBER_LEAVE, 20, "fiber_leave", "", "")                                       \
    X(SPAN_BEGIN, 21, "span_begin", "ul", "span,location")                          \
    X(SPAN_END, 22, "span_end", "u", "span")                                        \
    X(FLOW_BEGIN, 23, "flow_begin", "u", "flow")                                    \
    X(FLOW_STEP, 24, "flow_step", "u", "flow")                                      \
    X(FLOW_END, 25, "flow_end", "u", "flow")                                        \
    X(CALLSTACK, 26, "callstack", "a", "addresses")                                 \
    X(SAMPLE, 27, "sample", "ua", "cpu,addresses")                                  \
    X(SWITCH_IN, 28, "switch_in", "uu", "cpu,reason")                               \
    X(SWITCH_OUT, 29, "switch_out", "uu", "cpu,reason")                             \
    X(TRIGGER, 30, "trigger", "s", "reason")                                        \
    X(APP_INFO, 31, "app_info", "s", "text")                                        \
    X(FRAME_IMAGE, 32, "frame_image", "uuuus", "frame,width,height,flip,dxt1")      \
    X(FRAME_VSYNC, 33, "frame_vsync", "u", "display")                               \
    X(MEM_DISCARD, 34, "discard", "n", "pool")                                      \
    X(LOCK_MARK, 35, "lock_mark", "ul", "lock,location")                            \
    X(LOCK_GONE, 36, "lock_gone", "u", "lock")                                      \
    X(SECTION_ENTER, 37, "section_enter", "uus", "section,category,text")           \
    X(SECTION_LEAVE, 38, "section_leave", "u", "section")                           \
    X(GPU_BEGIN, 39, "gpu_begin", "uuul", "context,query,tid,location")             \
    X(GPU_END, 40, "gpu_end", "uuu", "context,query,tid")                           \
    X(GPU_TIME, 41, "gpu_time", "uui", "context,query,time")                        \
    X(GPU_CALIBRATION, 42, "gpu_calibration", "uiui", "context,time,host,delta_ns") \
    X(GPU_SYNC, 43, "gpu_sync", "uiu", "context,time,host")                         \
    X(GPU_NOTE, 44, "gpu_note", "uuuud", "context,query,tid,note,value")            \
    X(CRASH, 45, "crash", "s", "text")                                              \
    X(HW_SAMPLE, 46, "hw_sample", "uu", "counter,address")                          \
    X(CPU_SWITCH, 47, "cpu_switch", "uuuuuuii",                                     \
      "cpu,from,to,reason,state,c_state,to_priority,from_priority")                 \
    X(WAKEUP, 48, "wakeup", "uuii", "tid,cpu,reason,increment")                     \
    X(OWN_TIME, 49, "own_time", "i", "more")                                        \
    X(ZONE_TEXT_AT, 50, "zone_text_at", "ls", "location,text")                      \
    X(ZONE_NAME_AT, 51, "zone_name_at", "ls", "location,name")                      \
    X(ZONE_VALUE_AT, 52, "zone_value_at", "lu", "location,value")                   \
    X(ZONE_COLOR_AT, 53, "zone_color_at", "lu", "location,color")                   \
    X(ZONE_LOOSE, 60, "zone_loose", "", "")                                         \
    X(ZONE_END_UNDER, 61, "zone_end_under", "u", "n_above")                         \
    X(ZONE_BEGIN, 63, "zone_begin", "l", "location")

/* Kinds of events for which a file's head has no line left, as those of STROBE_LATER_LIST. */
#define STROBE_KIND_LATER_LIST(X)                                                \
    X(SAMPLE_GAP, 54, "sample_gap", "uu", "n_missed,is_cut")                     \
    X(WOKEN, 55, "woken", "uu", "cpu,by")                                        \
    X(MEM_BLOCK, 57, "block", "nuuuuu", "pool,address,size,weight,stack,old")    \
    X(LOCK_WAITED, 58, "lock_waited", "uuuuu", "lock,shared,ticks,holder,stack") \
    X(STACK, 59, "stack", "ua", "stack,addresses")

enum strobe_kind {
#define X(name, number, text, fields, field_names) STROBE_KIND_##name = number,
    STROBE_KIND_LIST(X) STROBE_KIND_LATER_LIST(X)
#undef X
        STROBE_KIND_COUNT = 64
};

/* Facts about a process, carried by its meta track in the ring and by RECORDS blocks in the file.
 * Same letters. `proc` is not in the ring (the ring is the process's own); in the file it comes first. */
#define STROBE_META_LIST(X)                                                                     \
    X(PROCESS, 64, "process", "uuusss", "pid,parent_pid,start_time,exe,cwd,argv")               \
    X(THREAD, 65, "thread", "uuus", "track,tid,start_tick,name")                                \
    X(THREAD_NAME, 66, "thread_name", "us", "track,name")                                       \
    X(LOC, 67, "loc", "uuusss", "id,line,color,function,file,name")                             \
    X(STRING, 68, "string", "us", "id,text")                                                    \
    X(MODULE, 69, "module", "uuuss", "base,size,offset,build_id,path")                          \
    X(PROGRAM_NAME, 70, "program_name", "s", "name")                                            \
    X(PLOT_CONFIG, 71, "plot_config", "uuuu", "plot,format,step,color")                         \
    X(LOCK_NAME, 72, "lock_name", "uus", "lock,location,name")                                  \
    X(FIBER_NAME, 73, "fiber_name", "us", "fiber,name")                                         \
    X(ENVIRONMENT, 74, "environment", "s", "assignment")                                        \
    X(GPU_CONTEXT, 75, "gpu_context", "uuuuuid",                                                \
      "context,type,calibrated,tid,host,time,period_ns")                                        \
    X(GPU_NAME, 76, "gpu_name", "us", "context,name")                                           \
    X(GPU_NOTE_NAME, 77, "gpu_note_name", "uus", "context,note,name")                           \
    X(SECTION_NAME, 78, "section_name", "us", "category,name")                                  \
    X(SYMBOL, 79, "symbol", "uuuusss", "address,inlined,line,start,function,file,image")        \
    X(PARAMETER, 80, "parameter", "uuis", "index,type,value,name")                              \
    X(FOREIGN_THREAD, 81, "foreign_thread", "uuss", "tid,pid,process,name")                     \
    X(CPU, 82, "cpu", "uuuu", "package,die,core,thread")                                        \
    X(THREAD_GROUP, 83, "thread_group", "ui", "track,group")                                    \
    X(LOCK_KIND, 84, "lock_kind", "uuu", "lock,shared,time")                                    \
    X(TRACY_CLIENT, 85, "tracy_client", "uduuuuuuiuuusss",                                      \
      "protocol,timer_mul,init_begin,init_end,delay,resolution,epoch,exec_time,sampling,flags," \
      "arch,cpu_id,maker,program,host")                                                         \
    X(TRACY_TAKEN, 86, "tracy_taken", "uuuu", "zones,events,set_aside,unnamed")

/* Facts of a process for which a file's head has no line left: a file that has them says what they are in KIND records. They are
 * never in a ring. */
#define STROBE_LATER_LIST(X)                                                                 \
    X(FUNCTION, 87, "function", "uuuuussss",                                                 \
      "start,size,line,call_line,is_inline,function,file,image,call_file")                   \
    X(CODE, 88, "code", "uuus", "start,offset,total,bytes")                                  \
    X(SOURCE_FILE, 89, "source_file", "uuss", "offset,total,path,bytes")                     \
    X(DEVICE, 90, "device", "uuuuuus", "device,arch,khz,grid_x,grid_y,pid,backend")          \
    X(DEVICE_LANE, 91, "device_lane", "uuuuuuu", "track,kind,x,y,logical_x,logical_y,risc")  \
    X(DEVICE_PROGRAM, 92, "device_program", "uuss", "program,trace,name,sources")            \
    X(SAMPLED, 93, "sampled", "uuu", "hz,error_ns,has_kernel")                               \
    X(DEVICE_OP, 94, "device_op", "uuuuuuuuuiuuds",                                          \
      "op,trace,session,from,to,known,host_ns,kernel_ns,fw_ns,gap_ns,cores,bound,util,name") \
    X(PYTHON_FRAMES, 95, "python_frames", "uuuuuu",                                          \
      "minor,state,n_joined,n_missed,late_ns,late_max_ns")

enum strobe_meta {
#define X(name, number, text, fields, field_names) STROBE_META_##name = number,
    STROBE_META_LIST(X) STROBE_LATER_LIST(X)
#undef X
        STROBE_META_COUNT = 96
};

#endif
