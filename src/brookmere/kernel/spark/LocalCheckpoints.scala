package org.apache.spark.sql.brookmere

import java.io.{BufferedOutputStream, FilterOutputStream, OutputStream}
import java.nio.channels.{Channels, FileChannel}
import java.nio.file.{Files, FileAlreadyExistsException => Exists, Path => LocalPath, StandardCopyOption, StandardOpenOption}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.{CheckpointFileManager, FileSystemBasedCheckpointFileManager}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream

/**
 * Writes checkpoints on a local disk without Hadoop's file system, which starts a process for every
 * file to set its permissions. Elsewhere it is Spark's own.
 */
final class LocalCheckpoints(root: Path, conf: Configuration) extends FileSystemBasedCheckpointFileManager(root, conf) {
  override def createAtomic(path: Path, overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    if (isLocal) new LocalFile(local(path), overwriteIfPossible) else super.createAtomic(path, overwriteIfPossible)

  override def exists(path: Path): Boolean = if (isLocal) Files.exists(local(path)) else super.exists(path)

  private def local(path: Path): LocalPath = LocalPath.of(path.toUri.getPath)
}

/** A file that is there as a whole when it is closed, or not at all. */
final class LocalFile private (to: LocalPath, temporary: LocalPath, file: FileChannel, buffered: OutputStream, overwrite: Boolean)
    extends CancellableFSDataOutputStream(buffered) {
  private var done = false

  private def this(to: LocalPath, temporary: LocalPath, file: FileChannel, overwrite: Boolean) =
    this(to, temporary, file, new BufferedOutputStream(new FilterOutputStream(Channels.newOutputStream(file)) {
      override def write(b: Array[Byte], from: Int, n: Int): Unit = out.write(b, from, n)
    }), overwrite)

  private def this(to: LocalPath, temporary: LocalPath, overwrite: Boolean) =
    this(to, temporary, LocalFile.open(temporary), overwrite)

  def this(to: LocalPath, overwrite: Boolean) =
    this(to, to.resolveSibling(s".${to.getFileName}.${java.util.UUID.randomUUID}.tmp"), overwrite)

  override def close(): Unit = synchronized {
    if (!done) {
      done = true
      try {
        buffered.flush()
        file.force(true)
        file.close()
        if (overwrite) Files.move(temporary, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
        else try Files.move(temporary, to) catch { case e: Exists => throw new FileAlreadyExistsException(e.getMessage) }
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
  private def open(temporary: LocalPath): FileChannel = {
    Files.createDirectories(temporary.getParent)
    FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)
  }
}
