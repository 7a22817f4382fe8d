package org.apache.spark.sql.brookmere

import java.io.BufferedOutputStream
import java.nio.channels.{Channels, FileChannel}
import java.nio.file.{FileAlreadyExistsException => Exists, Files, Path => LocalPath}
import java.nio.file.{StandardCopyOption, StandardOpenOption}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/**
 * Writes checkpoints on a local disk without Hadoop's file system, which starts a process for every file to set its
 * permissions. On other file systems it uses Spark's own code.
 */
final class LocalCheckpoints(root: Path, conf: Configuration) extends FileSystemBasedCheckpointFileManager(root, conf) {
  override def createAtomic(path: Path, overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    if (isLocal) LocalFile.create(local(path), overwriteIfPossible) else super.createAtomic(path, overwriteIfPossible)

  override def exists(path: Path): Boolean = if (isLocal) Files.exists(local(path)) else super.exists(path)

  private def local(path: Path): LocalPath = LocalPath.of(path.toUri.getPath)
}

/** A file that exists completely once it is closed, or not at all. */
final class LocalFile private (to: LocalPath, temporary: LocalPath, file: FileChannel, overwrite: Boolean)
    extends CancellableFSDataOutputStream(new BufferedOutputStream(Channels.newOutputStream(file))) {
  private var done = false

  override def close(): Unit = synchronized {
    if (!done) {
      done = true
      try {
        underlyingStream.flush()
        file.force(true)
        file.close()
        if (overwrite) Files.move(temporary, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
        else {
          try Files.move(temporary, to)
          catch { case e: Exists => throw new FileAlreadyExistsException(e.getMessage) }
        }
      } finally drop()
    }
  }

  override def cancel(): Unit = synchronized {
    if (!done) { done = true; drop() }
  }

  private def drop(): Unit = {
    file.close()
    Files.deleteIfExists(temporary)
  }
}

object LocalFile {
  def create(to: LocalPath, overwrite: Boolean): LocalFile = {
    Files.createDirectories(to.getParent)
    val temporary = to.resolveSibling(s".${to.getFileName}.${java.util.UUID.randomUUID}.tmp")
    val file = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)
    new LocalFile(to, temporary, file, overwrite)
  }
}
