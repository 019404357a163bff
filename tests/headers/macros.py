"""macros.py - what every macro of tracy/TracyC.h and tracy/Tracy.hpp, used once by macros.c and macros.cpp, leaves in the trace.

A row is a list of events in their order. An event is its kind and the fields that matter, '*' for those that don't; a call stack
in front is written as '+'. RECORDS are facts, found by their kind and a part of their fields.
SPDX-License-Identifier: MIT"""


def zone(name, stack=""):
    return [f"{stack}zone_begin {name}", "zone_end"]


BLOCK = "*"  # an address

# ---- C: function is the name where a macro gives none

C = {
    "TracyCZone": zone("zones"), "TracyCZoneN": zone("name"), "TracyCZoneC": zone("zones"),
    "TracyCZoneNC": zone("name"), "TracyCZoneS": zone("zones", "+"), "TracyCZoneNS": zone("name", "+"),
    "TracyCZoneCS": zone("zones", "+"), "TracyCZoneNCS": zone("name", "+"), "inactive": ["zone_begin around"],
    "TracyCZoneText": ["zone_text text"], "TracyCZoneTextF": ["zone_text text 7", "zone_text plain"],
    "TracyCZoneName": ["zone_name renamed"], "TracyCZoneNameF": ["zone_name renamed again"],
    "TracyCZoneColor": [f"zone_color {0x123456}"], "TracyCZoneValue": ["zone_value 42"], "TracyCZoneEnd": ["zone_end"],
    "TracyCIsConnected": [],
}


def memory(prefix, secure, sizes):
    """The macros for memory, plain or secure."""
    a, an, s, ns = sizes
    p = prefix + secure
    return {
        p + "Alloc": [f"alloc  {BLOCK} {a}"], p + "Free": [f"free  {BLOCK}"], p + "AllocN": [f"alloc pool {BLOCK} {an}"],
        p + "FreeN": [f"free pool {BLOCK}"], p + "MemoryDiscard": ["discard pool"], p + "AllocS": [f"+alloc  {BLOCK} {s}"],
        p + "FreeS": [f"+free  {BLOCK}"], p + "AllocNS": [f"+alloc pool {BLOCK} {ns}"], p + "FreeNS": [f"+free pool {BLOCK}"],
        p + "MemoryDiscardS": ["+discard pool"],
    }


def messages(prefix):
    return {
        prefix + "Message": ["message 2 0 message"], prefix + "MessageL": ["message 2 0 literal"],
        prefix + "MessageC": [f"message 2 {0xff0000} message"], prefix + "MessageLC": [f"message 2 {0xff0000} literal"],
        prefix + "MessageS": ["+message 2 0 message"], prefix + "MessageLS": ["+message 2 0 literal"],
        prefix + "MessageCS": [f"+message 2 {0xff0000} message"], prefix + "MessageLCS": [f"+message 2 {0xff0000} literal"],
        prefix + "AppInfo": ["app_info about"],
    }


C.update(memory("TracyC", "", (1, 2, 3, 4)))
C.update(memory("TracyC", "Secure", (5, 6, 7, 8)))
C.update(messages("TracyC"))
C.update({
    "TracyCSetThreadName": [],
    "TracyCFrameMark": ["frame "], "TracyCFrameMarkNamed": ["frame frame"], "TracyCFrameMarkStart": ["frame_start part"],
    "TracyCFrameMarkEnd": ["frame_end part"], "TracyCFrameImage": ["frame_image 1 8 4 1 16"], "TracyCPlotConfig": [],
    "TracyCPlot": ["plot_double plot 1.5"], "TracyCPlotF": ["plot_double plot 2.5"], "TracyCPlotI": ["plot_int plot -3"],
    "TracyCFiberEnter": ["fiber_enter *"], "TracyCFiberLeave": ["fiber_leave"],
    "TracyCLockAnnounce": [], "TracyCLockCustomName": [], "TracyCLockBeforeLock": ["lock_wait * 0"],
    "TracyCLockAfterLock": ["lock_obtain * 0"], "TracyCLockMark": ["lock_mark * locks"],
    "TracyCLockAfterUnlock": ["lock_release * 0"], "TracyCLockAfterTryLock": ["lock_obtain * 0"],
    "TracyCLockTerminate": ["lock_gone *"],
    "TracyCSharedLockAnnounce": [], "TracyCSharedLockCustomName": [], "TracyCSharedLockBeforeLock": ["lock_wait * 0"],
    "TracyCSharedLockAfterLock": ["lock_obtain * 0"], "TracyCSharedLockMark": ["lock_mark * locks"],
    "TracyCSharedLockAfterUnlock": ["lock_release * 0"], "TracyCSharedLockAfterTryLock": ["lock_obtain * 0"],
    "TracyCSharedLockBeforeSharedLock": ["lock_wait * 1"], "TracyCSharedLockAfterSharedLock": ["lock_obtain * 1"],
    "TracyCSharedLockAfterSharedUnlock": ["lock_release * 1"], "TracyCSharedLockAfterTrySharedLock": ["lock_obtain * 1"],
    "TracyCSharedLockTerminate": ["lock_gone *"],
    "gpu_new_context": [], "gpu_context_name": [], "gpu_zone_begin": ["gpu_begin 3 10 * const"], "gpu_zone_end": ["gpu_end 3 11 *"],
    "gpu_time": ["gpu_time 3 10 2000"], "gpu_calibration": ["gpu_calibration 3 3000 * 500"], "gpu_time_sync": ["gpu_sync 3 4000 *"],
    "gpu_zone_begin_callstack": ["+gpu_begin 3 12 * const"], "gpu_zone_begin_alloc": ["gpu_begin 3 10 * allocated"],
    "gpu_zone_begin_alloc_callstack": ["+gpu_begin 3 12 * fn"],
    "zone_functions": ["zone_begin const", "zone_text t", "zone_text 1", "zone_name n", "zone_name 2", "zone_color 3", "zone_value 4",
                       "zone_end", "+zone_begin const", "zone_end"],
    "zone_alloc": ["zone_begin made here", "zone_end", "+zone_begin fn", "zone_end"],
    "memory_functions": 2 * [f"alloc  {BLOCK} 1", f"free  {BLOCK}", f"alloc pool {BLOCK} 2", f"free pool {BLOCK}", f"alloc  {BLOCK} 3",
                             f"free  {BLOCK}", f"alloc pool {BLOCK} 4", f"free pool {BLOCK}", "discard pool", "discard pool"],
    "message_functions": ["message 4 255 log", "message 1 0 log", "message 2 0 old", "message 2 0 old", "message 2 255 old",
                          "message 2 255 old", "app_info info"],
    "other_functions": ["frame ", "frame_start part", "frame_end part", "plot_double plot 1", "plot_double plot 2", "plot_int plot 3",
                        "fiber_enter *", "fiber_leave"],
    "___tracy_set_thread_name": [],
})

C_RECORDS = [("plot_config", "format=1 step=1 color=65280"), ("lock_name", "name=C lock"), ("lock_name", "name=C shared"),
             ("lock_kind", "shared=1"), ("fiber_name", "name=fiber"), ("thread_name", "name=thread of C"),
             ("thread_name", "name=functions"), ("gpu_context", "context=3 type=2 calibrated=1 tid=0"), ("gpu_name", "context=3 name=gpu"),
             ("loc", "color=255 function=zones")]
# Not events: values, and names that others are made of.
C_OTHERS = {"TracyCIsStarted", "TracyCBeginSamplingProfiling", "TracyCEndSamplingProfiling", "TracyCLockCtx", "TracyCSharedLockCtx"}

# ---- C++

LOCKED = ["lock_wait * 0", "lock_obtain * 0", "lock_release * 0"]
TRIED = ["lock_obtain * 0", "lock_release * 0"]

CPP = {
    "ZoneNamed": zone("zones"), "ZoneNamedN": zone("name"), "ZoneNamedC": zone("zones"), "ZoneNamedNC": zone("name"),
    "ZoneNamedS": zone("zones", "+"), "ZoneNamedNS": zone("name", "+"), "ZoneNamedCS": zone("zones", "+"),
    "ZoneNamedNCS": zone("name", "+"), "inactive": [], "ZoneTransient": zone("zones"), "ZoneTransientN": zone("transient"),
    "ZoneTransientNC": zone("transient"), "ZoneTransientS": zone("zones", "+"), "ZoneTransientNS": zone("transient", "+"),
    "ZoneScoped": zone("zones"), "ZoneScopedN": zone("name"), "ZoneScopedC": zone("zones"), "ZoneScopedNC": zone("name"),
    "ZoneScopedS": zone("zones", "+"), "ZoneScopedNS": zone("name", "+"), "ZoneScopedCS": zone("zones", "+"),
    "ZoneScopedNCS": zone("name", "+"),
    "shadowed": ["zone_begin outer", "zone_begin inner", "zone_end", "zone_end", "zone_begin around", "zone_begin scope around"],
    "ZoneText": ["zone_text text"], "ZoneTextV": ["zone_text text"], "ZoneTextF": ["zone_text text 7", "zone_text plain"],
    "ZoneTextVF": ["zone_text text 8"], "ZoneName": ["zone_name renamed"], "ZoneNameV": ["zone_name renamed"],
    "ZoneNameF": ["zone_name renamed 1"], "ZoneNameVF": ["zone_name renamed 2"], "ZoneColor": [f"zone_color {0x123456}"],
    "ZoneColorV": [f"zone_color {0x654321}"], "ZoneValue": ["zone_value 42"], "ZoneValueV": ["zone_value 43"], "ZoneIsActive": [],
    "ZoneIsActiveV": [],
    "TracyLogString": ["message 3 0 warning", f"message 4 {0xff0000} error"], "TracySetProgramName": [],
    "FrameMark": ["frame "], "FrameMarkNamed": ["frame frame"], "FrameMarkStart": ["frame_start part"], "FrameMarkEnd": ["frame_end part"],
    "FrameImage": ["frame_image 1 8 4 0 16"], "TracyPlotConfig": [],
    "TracyPlot": ["plot_int plot -3", "plot_double plot 2.5", "plot_double plot 1.5"], "TracyFiberEnter": ["fiber_enter *"],
    "TracyFiberEnterHint": ["fiber_enter *"], "TracyFiberLeave": ["fiber_leave"],
    "TracyLockable": LOCKED + TRIED + ["lock_gone *"], "TracyLockableN": ["lock_gone *"],
    "TracySharedLockable": LOCKED + TRIED + ["lock_wait * 1", "lock_obtain * 1", "lock_release * 1", "lock_obtain * 1", "lock_release * 1",
                                             "lock_gone *"],
    "TracySharedLockableN": ["lock_gone *"], "LockableBase": LOCKED, "SharedLockableBase": LOCKED, "LockMark": ["lock_mark * locks"],
    "LockableName": [],
    "TracySectionSetup": [], "TracySectionEnter": ["section_enter 1 0 section 1", "section_leave 1"],
    "TracySectionEnterCategory": ["section_enter 2 3 plain", "section_leave 2"], "TracySectionLeave": [], "TracyParameterSetup": [],
    "TracyParameterRegister": [], "TracySourceCallbackRegister": [], "SetThreadName": [], "SetThreadNameWithHint": [], "TracyNoop": [],
    "ScopedZone": ["zone_begin const", "zone_value 1", "zone_end"], "ScopedZone_run_time": ["zone_begin made here", "zone_end"],
    "Profiler": ["frame_start part", "message 2 0 old", f"alloc pool {BLOCK} 1", f"free pool {BLOCK}"],
}
CPP.update(memory("Tracy", "", (1, 2, 3, 4)))
CPP.update(memory("Tracy", "Secure", (5, 6, 7, 8)))
CPP.update(messages("Tracy"))

CPP_RECORDS = [("plot_config", "format=2 step=1 color=65280"), ("lock_name", "name=std::mutex mutex"), ("lock_name", "name=a mutex"),
               ("lock_name", "name=TwoWays both"), ("lock_name", "name=a shared lock"), ("lock_name", "name=named later"),
               ("lock_kind", "shared=1"), ("section_name", "category=3 name=category 3"),
               ("parameter", "index=1 type=1 value=1 name=parameter"), ("program_name", "name=program of C++"),
               ("thread_name", "name=thread of C++"), ("thread_group", "group=5"), ("loc", "color=255 function=zones"),
               ("fiber_name", "name=other fiber")]
CPP_OTHERS = {"TracyIsConnected", "TracyIsStarted", "TracyParamTypeInt", "TracyParamTypeBool", "TracyParamTypeTrigger", "TracyFunction",
              "TracyFile", "TracyLine"}
