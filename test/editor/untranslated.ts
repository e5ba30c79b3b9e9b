import { englishWords } from '../support/wording';
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
