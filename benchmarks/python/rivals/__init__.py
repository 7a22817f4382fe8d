"""The same programs for other libraries, each in an environment of its own, without anything of ours."""
