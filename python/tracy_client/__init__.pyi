from tracy_client.tracy import *

__all__ = [
    "Color", "ColorType", "PlotFormatType", "PlotType", "ScopedFrame", "ScopedFrameDecorator", "ScopedZone",
    "ScopedZoneDecorator", "alloc", "app_info", "frame_image", "frame_mark", "frame_mark_end", "frame_mark_start", "free",
    "is_connected", "is_enabled", "message", "plot", "plot_config", "program_name", "thread_name"]
