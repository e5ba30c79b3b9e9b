import { ANSWERS } from './answers';
import { CALLERS } from './callers';
import { CHANNEL_FRAMES } from './channel-frames';
import { CHANNEL_LIFE } from './channel-life';
import { CHANNEL_RESTART } from './channel-restart';
import { CHANNEL_UPGRADE } from './channel-upgrade';
import { CLOCK } from './clock';
import { CONTENT } from './content';
import { DURING } from './during';
import { EDITOR } from './editor';
import { FLEET } from './fleet';
import { HELD } from './held';
import { HISTORY } from './history';
import { MANY } from './many';
import { MESSAGES } from './messages';
import { NODE_RED } from './node-red';
import { REDEPLOYS } from './redeploys';
import { REQUEST } from './request';
import type { Row } from './row';
import { TRANSPORT } from './transport';

/** All faults, by the file that tries them. */
export const FILES: Readonly<Record<string, readonly Row[]>> = {
  answers: ANSWERS,
  transport: TRANSPORT,
  'channel-upgrade': CHANNEL_UPGRADE,
  'channel-life': CHANNEL_LIFE,
  'channel-restart': CHANNEL_RESTART,
  'channel-frames': CHANNEL_FRAMES,
  content: CONTENT,
  history: HISTORY,
  fleet: FLEET,
  request: REQUEST,
  held: HELD,
  many: MANY,
  clock: CLOCK,
  messages: MESSAGES,
  'node-red': NODE_RED,
  during: DURING,
  redeploys: REDEPLOYS,
  callers: CALLERS,
  editor: EDITOR,
};
