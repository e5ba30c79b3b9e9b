/** Files and sockets beside the channels: the code, pipes, the pool. */
const BESIDE = 300;

/** How many files and sockets a process of this user may have open. */
function openFiles(): number {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { hard: number | 'unlimited' } };
  };
  // Node.js takes all that the system allows; without a report there is no such limit, as on Windows.
  const hard = userLimits?.open_files?.hard ?? 'unlimited';
  return hard === 'unlimited' ? Infinity : hard;
}

/** Of the channels that are wanted, those that the system's limit allows; and says so, if not all. */
export function channelsAllowed(wanted: number, say: (text: string) => void): number {
  const allowed = openFiles() - BESIDE;
  if (wanted <= allowed) return wanted;
  say(
    `This system lets a process have ${openFiles()} files open, which is too few for ${wanted} channels: ` +
      `${allowed} are measured instead. Raise the limit (ulimit -Hn) for all of them.`,
  );
  return allowed;
}
