import { writeFile } from 'node:fs/promises';
import writeFileAtomic from 'write-file-atomic';

/**
 * Replaces a file as a whole, or leaves it as it is. The library writes once, and does not look how much of it the system has
 * taken: on a disk that has room for a part, that part would replace the file. So all is written here, before the library has it
 * survive a loss of power and renames it.
 * @param mode of a new file; default: as of the one before
 */
export const replaceFile = (
  path: string,
  content: string | Buffer,
  mode?: number,
): Promise<void> => {
  // It waits for what the function returns, which its types do not say.
  const tmpfileCreated = (file: string): unknown => writeFile(file, content);
  return writeFileAtomic(path, '', { ...(mode !== undefined && { mode }), tmpfileCreated });
};
