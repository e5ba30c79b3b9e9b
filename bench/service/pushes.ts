import { signByHand } from '../../test/src/support/sign-by-hand';
import { IDENTITY } from '../identity';
import type { Request } from './requests';

/** How many pushes came, and how many of those looked at were not signed as they should be. */
export interface PushCount {
  pushes: number;
  refused: number;
}

/** Looking at each signature would make the service slow: one in so many is enough to see that they are right. */
const LOOK_AT = 64;

function isRight({ target, body }: Request): boolean {
  const params = new URLSearchParams(`${target.slice(target.indexOf('?') + 1)}&${body}`);
  const { sign, ...signed } = Object.fromEntries(params);
  return (
    ['appid', 'timestamp', 'devid', 'message', 'format'].every((name) => name in signed) &&
    sign === signByHand('POST', signed, IDENTITY.appkey)
  );
}

/** Counts pushes (endpoint 3), and looks at some of them. */
export function countPushes(): { take: (request: Request) => boolean; count: PushCount } {
  const count: PushCount = { pushes: 0, refused: 0 };
  return {
    count,
    take(request) {
      const right = count.pushes++ % LOOK_AT !== 0 || isRight(request);
      if (!right) count.refused++;
      return right;
    },
  };
}
