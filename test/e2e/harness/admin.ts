import assert from 'node:assert/strict';
import type { User } from '../../tooling/editor/page';
import { TIMEOUT } from '../../tooling/until';
import { request } from './request';

export const FULL: User = { username: 'full', password: 'full-password' };
export const READER: User = { username: 'reader', password: 'read-password' };

/** May see and try applications, and may neither read nor change flows. */
export const OPERATOR: User = { username: 'operator', password: 'operate-password' };

/** A Node-RED as companies run it: behind a log-in, below a path of its own. */
export const ADMIN_SETTINGS = {
  httpAdminRoot: '/admin/x',
  adminAuth: {
    type: 'credentials',
    // The hashes are of the passwords above.
    users: [
      {
        username: FULL.username,
        password: '$2b$04$kwh.TK0xeDiUFTxHpLBFKeWBxzFmQBtbl8HHb7EITVohfU1WPD2H.',
        permissions: '*',
      },
      {
        username: READER.username,
        password: '$2b$04$qMDLq2.2uoRMNZYRY2h.B.H7kASrJsDL/Nsny0jPt8Pzm5x6b81jK',
        permissions: 'read',
      },
      {
        username: OPERATOR.username,
        password: '$2b$04$.WyAaP6eLbqGTUvKgYrUNOUaevkQ9y8v26DqnRnEGGCyASelWwk/m',
        permissions: ['device-cloud.read', 'device-cloud.write'],
      },
    ],
  },
  logging: { console: { level: 'trace', metrics: false, audit: true } },
};

/** Logs in. @returns the header that says so to the admin API below `url` */
export async function logIn(url: string, user: User): Promise<{ authorization: string }> {
  const response = await request(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ client_id: 'node-red-admin', grant_type: 'password', scope: '' },
      ...user,
    }),
    signal: AbortSignal.timeout(TIMEOUT),
  });
  assert.equal(response.status, 200, `${user.username} cannot log in`);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return { authorization: `Bearer ${token}` };
}
