import type { FlowNode } from '../../test/e2e/harness/flows';
import { coreUploads } from '../flows/core';
import { startNodeRed } from '../flows/node-red';
import { ourUploads } from '../flows/ours';
import { ends as endsOf, newEnds, ownNodes } from '../flows/own-nodes';
import { serve, settings } from '../process/rpc';
import { bareChannels } from './bare-channels';
import { channelMethods, type ChannelMethods, type ChannelSettings } from './channel-methods';
import { readingOf } from '../service/readings';

/* A flow that receives: what is measured → sink. */

/** Which flow: `floor` is a bare node, which shows what a message costs in Node-RED whoever sends it. */
export interface FlowSettings extends ChannelSettings {
  flow: 'floor' | 'core' | 'ours' | 'ours-without-recovery';
}

const { baseUrl, flow } = settings() as FlowSettings;
const ends = newEnds();
const openFloor = bareChannels(baseUrl, ({ topic, payload }) => ends.send({ topic, payload }));
const started = startNodeRed(ownNodes(ends));
const FORM = new RegExp(`^${readingOf(0).replace(/\d{6}$/, '\\d{6}')}$`);

const flows: Record<FlowSettings['flow'], (channels: number) => FlowNode[]> = {
  floor: () => endsOf('sink'),
  core: (channels) => coreUploads(baseUrl, channels),
  ours: (channels) => ourUploads(baseUrl, channels, 'reconnect'),
  'ours-without-recovery': (channels) => ourUploads(baseUrl, channels, 'off'),
};

let deployed = false;

serve<ChannelMethods>(
  channelMethods(async (channels, counter) => {
    const nodeRed = await started;
    let isFirst = true;
    ends.onMessage = ({ payload }) => {
      // A look at one of them is enough to see that this is what was uploaded.
      if (isFirst && !FORM.test(String(payload))) throw new Error(`This came: ${String(payload)}`);
      isFirst = false;
      counter.count();
    };
    if (flow !== 'floor' || !deployed) await nodeRed.deploy(flows[flow](channels));
    deployed = true;
    if (flow === 'floor') await openFloor(channels);
  }),
);
