"""The type of keys with their windows."""

from __future__ import annotations

from brookmere.worker.protocol.stage_code import TypeCode

WINDOWED = TypeCode(
    '{"type":"struct","fields":['
    '{"name":"key","type":"string","nullable":true,"metadata":{}},'
    '{"name":"start","type":"long","nullable":false,"metadata":{}},'
    '{"name":"end","type":"long","nullable":false,"metadata":{}}]}',
    is_windowed=True,
)
