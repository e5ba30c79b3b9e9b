import type { ShownUpload } from '../app/answers.config';
import { plain, t } from '../common/editor/texts';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 100;
const HEIGHT = 20;

/** Of a float of 32 bits, more digits are noise. */
const numberText = (value: number): string => String(Number(value.toPrecision(7)));

/** The values of each field that is a number, the oldest first: at most as many as there are uploads. */
function fieldsOf(uploads: ShownUpload[]): Map<string, number[]> {
  const fields = new Map<string, number[]>();
  // Of two that came at once, the newest is first.
  for (const { numbers = {} } of uploads.toReversed().sort((a, b) => a.at - b.at))
    for (const [name, value] of Object.entries(numbers))
      fields.set(name, [...(fields.get(name) ?? []), value]);
  return fields;
}

/** @param values at least two */
function line(values: number[], least: number, most: number, title: string): SVGElement {
  const points = values.map((value, index) => {
    const y = most > least ? ((most - value) / (most - least)) * HEIGHT : HEIGHT / 2;
    return `${((index / (values.length - 1)) * WIDTH).toFixed(1)},${y.toFixed(1)}`;
  });
  const shape = document.createElementNS(SVG, 'polyline');
  shape.setAttribute('points', points.join(' '));
  const words = document.createElementNS(SVG, 'title');
  words.textContent = title;
  const image = document.createElementNS(SVG, 'svg');
  image.setAttribute('viewBox', `0 -2 ${WIDTH} ${HEIGHT + 4}`);
  image.setAttribute('preserveAspectRatio', 'none');
  image.setAttribute('role', 'img');
  image.append(words, shape);
  return image;
}

/** Of each field that is a number, its course in the last uploads and its latest value. As text, always: names may be anything. */
export const fieldItems = (uploads: ShownUpload[], units: Record<string, string>): JQuery[] =>
  [...fieldsOf(uploads)].map(([field, values]) => {
    const name = plain(field);
    const unit = Object.hasOwn(units, field) ? ` ${plain(units[field] ?? '')}` : '';
    const text = (value = 0): string => numberText(value) + unit;
    const least = Math.min(...values);
    const most = Math.max(...values);
    const words = { name, least: text(least), most: text(most), number: values.length };
    const title = t('recent.course', words);
    return $('<li>', { class: 'device-cloud-fleet-field', title }).append(
      $('<span>').text(name),
      values.length > 1 ? $(line(values, least, most, title)) : '',
      $('<small>').text(text(values.at(-1))),
    );
  });
