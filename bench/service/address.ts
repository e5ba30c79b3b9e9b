/** The address of a device's channel. The benchmark's service takes any signature here. */
export const channelAddress = (baseUrl: string, appid: string, chipid: string): string =>
  `${baseUrl.replace(/^http/, 'ws')}/noticed/peer?appid=${appid}&timestamp=1700000000000&chipid=${chipid}&sign=none`;
