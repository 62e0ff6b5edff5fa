"""Compiled loops of this room: functions of arrays and scalars that hold no policy."""
