"""A Maven repository in a directory, the only one that Ivy uses."""

from __future__ import annotations

import shutil
from hashlib import sha1
from pathlib import Path

from brookmere.jars.sets import Library

_SETTINGS = """\
<ivysettings>
  <settings defaultResolver="here"/>
  <resolvers>
    <filesystem name="here" m2compatible="true" checkmodified="true">
      <ivy pattern="{root}/[organisation]/[module]/[revision]/[module]-[revision].pom"/>
      <artifact pattern="{root}/[organisation]/[module]/[revision]/[artifact]-[revision].[ext]"/>
    </filesystem>
  </resolvers>
</ivysettings>
"""

_POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>{name}</artifactId>
  <version>{version}</version>
</project>
"""


class Repository:
    """Holds the jars that a test puts into it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.root.mkdir()
        self.settings = root / "ivysettings.xml"
        self.settings.write_text(_SETTINGS.format(root=root))

    def add(self, library: Library, content: Path | bytes) -> Path:
        """Add a jar and its checksum to the repository."""
        place = self.root / library.group.replace(".", "/") / library.name / library.version
        place.mkdir(parents=True)
        jar = place / library.file
        if isinstance(content, bytes):
            jar.write_bytes(content)
        else:
            shutil.copyfile(content, jar)
        names = {"group": library.group, "name": library.name, "version": library.version}
        (place / f"{library.name}-{library.version}.pom").write_text(_POM.format(**names))
        jar.with_name(f"{jar.name}.sha1").write_text(sha1(jar.read_bytes()).hexdigest())
        return jar
