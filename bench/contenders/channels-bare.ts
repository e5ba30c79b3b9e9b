import { serve, settings } from '../process/rpc';
import { bareChannels } from './bare-channels';
import { channelMethods, type ChannelMethods, type ChannelSettings } from './channel-methods';

/* The limit: what a program does that does nothing but receive. */

const { baseUrl } = settings() as ChannelSettings;
let count: () => void = () => undefined;
const open = bareChannels(baseUrl, () => count());

serve<ChannelMethods>(
  channelMethods((channels, counter) => {
    count = () => counter.count();
    return open(channels);
  }),
);
