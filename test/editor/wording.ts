import type { Editor } from './browser';

/** Runs in the page: each text that the open dialog shows, or would show for another choice. */
const TEXTS = `(() => {
  const form = $('.red-ui-tray').last().find('form:visible').first();
  const attributes = ['placeholder', 'title', 'aria-label'];
  const found = [];
  const walker = document.createTreeWalker(form[0], NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest('script, style')) found.push(node.data);
  }
  form.find('*').each((_, element) => {
    for (const name of attributes) found.push(element.getAttribute(name) ?? '');
  });
  $('.red-ui-typedInput-options').find('a').each((_, element) => found.push($(element).text()));
  return found.map((text) => text.trim().replace(/\\s+/g, ' ')).filter((text) => text !== '');
})()`;

const CHINESE = /\p{Script=Han}/u;
const WORD = /[A-Za-z][A-Za-z0-9._:/-]+/g;

/** Words that are the same in every language: names of the field, and what is typed or sent as it is. */
const NAMES = new Set(
  `appid AT B64 Base64 Buffer Date GPIO HEX HTTP https:// http:// https://cloud.example.com ID ISO JSON Key
  LUA Lua MSG Node-RED Ping TLS WebSocket YYYYMMDD YYYY-MM-DD a-f contextStorage flow. global. msg.
  msg.action msg.chipid msg.format msg.online payload list subscribe true false unsubscribe`.split(
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

/**
 * The texts of the open dialog with words that are not Chinese.
 * @param given names of nodes and of their types, which Node-RED puts into texts of its own
 */
export async function untranslatedTexts({ run }: Editor, given: string[]): Promise<string[]> {
  const texts = await run<string[]>(TEXTS);
  const without = (text: string): string =>
    given.reduce((rest, name) => rest.replaceAll(name, ''), text);
  return texts.filter((text) => englishWords(without(text)).length > 0);
}
