"""Kafka's default partitioner, for a whole column of keys at once."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.serde.partition import partition_for

# For fewer keys than this a plain loop is faster.
_FEW = 256

_UINT = pa.uint32()
_SEED = 0x9747B28C
_FACTOR = 0x5BD1E995
_NO_SIGN = 0x7FFFFFFF


def partitions_of(keys: pa.Array, partitions: int) -> pa.Array:
    """Return the partition of each key as int32; null for a null key."""
    if partitions == 1:
        zeros = pa.repeat(pa.scalar(0, pa.int32()), len(keys))
        return pc.if_else(keys.is_valid(), zeros, pa.scalar(None, pa.int32())) if keys.null_count else zeros
    if len(keys) < _FEW:
        numbers = [None if key is None else partition_for(key, partitions) for key in keys.to_pylist()]
        return pa.array(numbers, pa.int32())
    hashes = pc.bit_wise_and(_hashes(keys), pa.scalar(_NO_SIGN, _UINT)).cast(pa.int64())
    # Arrow has no remainder function; integer division truncates, so this computes one.
    count = pa.scalar(partitions, pa.int64())
    return pc.subtract(hashes, pc.multiply(pc.divide(hashes, count), count)).cast(pa.int32())


def _hashes(keys: pa.Array) -> pa.Array:
    lengths = pc.binary_length(keys)
    different = pc.unique(lengths).to_pylist()
    if len(different) == 1 and keys.null_count == 0:
        return _murmur2(keys, different[0])
    # Keys of equal length are hashed together; then the hashes are put back in the order of the keys.
    places, parts = [], []
    for length in different:
        is_meant = pc.is_null(lengths) if length is None else pc.equal(lengths, pa.scalar(length, pa.int32()))
        where = pc.indices_nonzero(is_meant.fill_null(False))
        places.append(where)
        parts.append(pa.nulls(len(where), _UINT) if length is None else _murmur2(keys.take(where), length))
    return pa.concat_arrays(parts).take(pc.array_sort_indices(pa.concat_arrays(places)))


def _murmur2(keys: pa.Array, length: int) -> pa.Array:
    """Hash keys that all have this length."""
    # Not a module constant: the first scalar makes Arrow import pandas if it is installed.
    factor = pa.scalar(_FACTOR, _UINT)
    whole = length - length % 4
    hashed = pa.repeat(pa.scalar((_SEED ^ length) & 0xFFFFFFFF, _UINT), len(keys))
    for start in range(0, whole, 4):
        word = pc.multiply(_words(pc.binary_slice(keys, start, start + 4)), factor)
        word = pc.multiply(_folded(word, 24), factor)
        hashed = pc.bit_wise_xor(pc.multiply(hashed, factor), word)
    if whole < length:
        rest = pc.binary_slice(keys, whole, length)
        zeros = pa.scalar(bytes(4 - length % 4), pa.binary())
        words = _words(pc.binary_join_element_wise(rest, zeros, pa.scalar(b"", pa.binary())))
        hashed = pc.multiply(pc.bit_wise_xor(hashed, words), factor)
    return _folded(pc.multiply(_folded(hashed, 13), factor), 15)


def _words(four_bytes: pa.Array) -> pa.Array:
    """View a column of four-byte values as integers; Arrow is little endian, as Murmur2 requires."""
    _, offsets, data = four_bytes.buffers()
    first = memoryview(offsets).cast("i")[four_bytes.offset]
    return pa.Array.from_buffers(_UINT, len(four_bytes), [None, data.slice(first)])


def _folded(numbers: pa.Array, bits: int) -> pa.Array:
    return pc.bit_wise_xor(numbers, pc.shift_right(numbers, pa.scalar(bits, _UINT)))
