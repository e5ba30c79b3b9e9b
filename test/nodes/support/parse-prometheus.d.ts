declare module 'parse-prometheus-text-format' {
  interface Sample {
    labels?: Readonly<Record<string, string>>;
    value: string;
  }
  export default function parse(
    text: string,
  ): readonly { name: string; metrics: readonly Sample[] }[];
}
