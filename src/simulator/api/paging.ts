import { PAGING } from '../assumptions';
import { integer, readParams, requireParam } from '../transport/params';
import { badRequest } from '../transport/refusal';

/** Which part of a list interface A is asked for (section 4.1). */
export interface Page {
  readonly page: number;
  readonly count: number;
}

/**
 * Reads `page` and `count` of a query.
 * @param required whether they have to be given
 * @throws Refusal 400
 */
export function readPage(query: string, required: boolean): Page {
  const params = readParams(query);
  const read = (name: 'page' | 'count', max: number): number => {
    if (params[name] === undefined && !required) return PAGING[name];
    const value = Number(integer(name, requireParam(params, name)));
    if (value < 1 || value > max) throw badRequest(`${name} must be from 1 to ${max}`);
    return value;
  };
  return { page: read('page', Number.MAX_SAFE_INTEGER), count: read('count', PAGING.maxCount) };
}

export const slice = <T>(items: readonly T[], { page, count }: Page): T[] =>
  items.slice((page - 1) * count, page * count);
