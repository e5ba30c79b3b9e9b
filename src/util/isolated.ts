import { oneLine } from './show';
import { catchRejection, thrownText } from './thrown';

const MAX_TEXT = 300;

const warn = (thrown: unknown): void =>
  process.emitWarning(
    `a callback threw: ${oneLine(thrownText(thrown), MAX_TEXT)}`,
    'DeviceCloudWarning',
  );

/** Calls a user's callback; what it throws, or its promise rejects with, becomes a warning of the process. */
export function isolated(callback: () => unknown): void {
  try {
    catchRejection(callback(), warn);
  } catch (thrown) {
    warn(thrown);
  }
}
