/*
 * The command of an explanation for PowerShell: 5.1, which is on each Windows, and 7. It uses .NET alone, since `curl.exe`
 * of 5.1 loses the double quotes of its arguments, and `Invoke-WebRequest` throws away the answer to a refused request.
 */
import { UNPRINTABLE } from '../util/show';

/** PowerShell takes the typographic ones for the plain one. */
const QUOTES = /['\u2018\u2019\u201a\u201b]/g;

const quoted = (text: string): string => `'${text.replace(QUOTES, '$&$&')}'`;

const characterOf = (unit: string): string =>
  `[char]0x${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Any text as an expression. Nothing unprintable appears in it: a terminal into which it is pasted obeys control characters.
 * It begins with a text, to which PowerShell adds characters as text.
 */
function expression(text: string): string {
  const parts: string[] = [];
  let last = 0;
  for (const { 0: found, index } of text.matchAll(UNPRINTABLE)) {
    if (index > last || last === 0) parts.push(quoted(text.slice(last, index)));
    parts.push(...found.split('').map(characterOf));
    last = index + found.length;
  }
  if (last < text.length || last === 0) parts.push(quoted(text.slice(last)));
  return parts.join(' + ');
}

/** Text as it is, or the name of a variable: `timestamp`, `env:APPKEY`. */
export type Part = string | { readonly variable: string };

/** Texts and variables one after the other, as an expression. */
const joined = (parts: readonly Part[]): string =>
  parts
    .filter((part) => part !== '')
    .map((part) => (typeof part === 'string' ? expression(part) : `$${part.variable}`))
    .join(' + ');

/** A request that is signed when the command runs. */
export interface PowerShellRequest {
  method: string;
  needs: readonly string[];
  unit: 'ms' | 's';
  /** What is signed. It begins with a text. */
  signed: readonly Part[];
  /** Whether A to Z of it are lowercased. */
  isLowercased?: boolean;
  /** It begins with a text. */
  url: readonly Part[];
  headers?: readonly (readonly [name: string, value: Part])[];
  body?: { readonly type: string; readonly text: string } | undefined;
  /** Opens a WebSocket instead. */
  isChannel?: boolean;
  usesNoProxy: boolean;
}

const DIGEST =
  "$sign = -join ([Security.Cryptography.MD5]::Create().ComputeHash([Text.Encoding]::UTF8.GetBytes($text)) | ForEach-Object { '{0:x2}' -f $_ })";

const socketLines = ({ url, usesNoProxy }: PowerShellRequest): string[] => [
  '$socket = [Net.WebSockets.ClientWebSocket]::new()',
  ...(usesNoProxy ? ['$socket.Options.Proxy = $null'] : []),
  `$url = ${joined(url)}`,
  '$socket.ConnectAsync([Uri]$url, [Threading.CancellationToken]::None).GetAwaiter().GetResult()',
  '"$($socket.State)"',
];

function requestLines({ method, url, headers, body, usesNoProxy }: PowerShellRequest): string[] {
  const lines = [
    'Add-Type -AssemblyName System.Net.Http',
    `$url = ${joined(url)}`,
    `$request = [Net.Http.HttpRequestMessage]::new([Net.Http.HttpMethod]::new(${quoted(method)}), $url)`,
    '$request.Headers.ExpectContinue = $false',
  ];
  for (const [name, value] of [['User-Agent', 'PowerShell'] as const, ...(headers ?? [])])
    lines.push(
      `[void]$request.Headers.TryAddWithoutValidation(${quoted(name)}, ${joined([value])})`,
    );
  if (body)
    lines.push(
      `$body = ${expression(body.text)}`,
      '$request.Content = [Net.Http.ByteArrayContent]::new([Text.Encoding]::UTF8.GetBytes($body))',
      `$request.Content.Headers.ContentType = [Net.Http.Headers.MediaTypeHeaderValue]::Parse(${quoted(body.type)})`,
    );
  return [
    ...lines,
    '$handler = [Net.Http.HttpClientHandler]::new()',
    '$handler.AllowAutoRedirect = $false',
    ...(usesNoProxy ? ['$handler.UseProxy = $false'] : []),
    '$client = [Net.Http.HttpClient]::new($handler)',
    '$answer = $client.SendAsync($request).GetAwaiter().GetResult()',
    '"$([int]$answer.StatusCode) $($answer.ReasonPhrase)"',
    '$answer.Content.ReadAsStringAsync().GetAwaiter().GetResult()',
  ];
}

/** A command that signs a request with the time at which it runs, and sends it. One block, so that it can be pasted. */
export function powershellCommand(request: PowerShellRequest): string {
  const { needs, unit, signed, isLowercased, isChannel } = request;
  const lines = [
    ...needs.map((name) => `if (-not $env:${name}) { throw ${quoted(`Set $env:${name} first.`)} }`),
    `$timestamp = [string][DateTimeOffset]::UtcNow.ToUnixTime${unit === 'ms' ? 'Milliseconds' : 'Seconds'}()`,
    `$text = ${joined(signed)}`,
    ...(isLowercased
      ? ["$text = [regex]::Replace($text, '[A-Z]', { $args[0].Value.ToLowerInvariant() })"]
      : []),
    DIGEST,
    ...(isChannel ? socketLines(request) : requestLines(request)),
  ];
  return `& {\n${lines.map((line) => `  ${line}\n`).join('')}}`;
}
