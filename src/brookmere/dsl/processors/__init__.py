"""The Processor API: process(), state stores, and topologies built node by node."""
