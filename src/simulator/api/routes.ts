import { STATUS } from '../assumptions';
import { badRequest, Refusal } from '../transport/refusal';

/** One row of a route table. `:name` in the path matches one segment. */
export interface Route<Run> {
  readonly method: string;
  readonly path: string;
  readonly run: Run;
}

/** What stood in the path's segments, by name. */
export type Segments = Readonly<Record<string, string>>;

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest('the path is not percent-encoded UTF-8');
  }
}

function segmentsOf(pattern: string, path: string): Segments | undefined {
  const expected = pattern.split('/');
  const given = path.split('/');
  if (expected.length !== given.length) return undefined;
  const segments: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const segment = given[index] ?? '';
    if (part.startsWith(':') && segment !== '') segments[part.slice(1)] = decodeSegment(segment);
    else if (part !== segment) return undefined;
  }
  return segments;
}

/** Whether a table has a row for a path, whatever the method. */
export const hasPath = (table: readonly Route<unknown>[], path: string): boolean =>
  table.some((route) => segmentsOf(route.path, path));

/**
 * Finds the row for a request.
 * @param noPath makes the refusal of a path that no row has
 * @throws Refusal that, or 400 if a row has the path with another method
 */
export function findRoute<Run>(
  table: readonly Route<Run>[],
  method: string,
  path: string,
  noPath: () => Refusal,
): { run: Run; segments: Segments } {
  let known = false;
  for (const route of table) {
    const segments = segmentsOf(route.path, path);
    if (!segments) continue;
    if (route.method === method) return { run: route.run, segments };
    known = true;
  }
  if (known) throw new Refusal(STATUS.wrongMethod, `${method} is not the method of this path`);
  throw noPath();
}
