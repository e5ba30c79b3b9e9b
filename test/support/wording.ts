const CHINESE = /\p{Script=Han}/u;
const WORD = /[A-Za-z][A-Za-z0-9._:/-]+/g;

/** Words that are the same in every language: names of the field, and what is typed or sent as it is. */
const NAMES = new Set(
  `curl openssl PowerShell Linux macOS POSIX shell MD5 devices/lists/ appid ASCII AT B64 Base64 Buffer CSV Date GPIO HEX HH:MM HTTP https:// http:// https://cloud.example.com ID ISO JSON
  Key LUA Lua MSG Node-RED Ping POST TLS Unicode URL UTC UTF-8 GBK auto WebSocket YYYYMMDD YYYY-MM-DD a-f
  contextStorage flow. global. msg. msg.action msg.chipid msg.failed msg.format msg.online msg.raw msg.uncertain payload list subscribe true false unsubscribe
  JSONata CSV chipid name groups note type temperature battery upload text low rssi Redis Valkey Sentinel Cluster redis:// rediss:// npm install ioredis valve: lamp: i16be u8 i8 u16be u16le i16 u32 i32 f32 f64 bit:N hex:N text:N skip:N be le for clear`.split(
    /\s+/,
  ),
);

/** What is filled in, and values that are written out as they are typed or sent. */
const VALUES = /__\w+__|"[^"]*"|\$?\{[^{}]*\}/g;

/** The English words in a Chinese text, but for names and values. */
export function englishWords(text: string): string[] {
  const words = text.replace(VALUES, '').match(WORD) ?? [];
  return words.filter((word) => !NAMES.has(word));
}

/** Whether a text is translated: Chinese, or nothing but names. */
export const isChinese = (text: string): boolean =>
  CHINESE.test(text) || englishWords(text).length === 0;
