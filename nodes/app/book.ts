import type { Node } from 'node-red';
import type { Book, BookProblem } from '../../src/for-nodes';

/** Lines of the log for one reading of the book. */
const MOST_LINES = 20;

const textOf = ({ line, reason }: BookProblem): string =>
  line === 0 ? reason : `Line ${line} of the device book is left out: it ${reason}.`;

/** Logs the faults of the book, now and after each change; earlier ones are not repeated. */
export function logProblems(node: Node, book: Book): void {
  let logged = new Set<string>();
  const log = (): void => {
    const lines = book.problems.map(textOf);
    const fresh = lines.filter((line) => !logged.has(line));
    logged = new Set(lines);
    for (const line of fresh.slice(0, MOST_LINES)) node.warn(line);
  };
  book.onChange(log);
  log();
}
