// What is known of the terminal: its width, its colours, whether somebody sits at it.

import pc from 'picocolors';

/** Where a command reads and writes. */
export interface CliStreams {
  out: NodeJS.WritableStream;
  err: NodeJS.WritableStream;
  in?: NodeJS.ReadableStream;
  env?: NodeJS.ProcessEnv;
}

/** The terminal of one command. */
export interface Terminal {
  /** Columns of the result; undefined when it goes into a pipe or a file, where nothing is cut. */
  readonly columns: number | undefined;
  readonly colours: ReturnType<typeof pc.createColors>;
  /** The result is seen as it is written. */
  readonly live: boolean;
  /** Notes are seen as they are written, so progress may be drawn over itself. */
  readonly liveNotes: boolean;
  /** Somebody can answer a question. */
  readonly canAsk: boolean;
}

type MaybeTty = { isTTY?: boolean; columns?: number };

/** Looks at the streams; `COLUMNS`, `NO_COLOR` and `FORCE_COLOR` mean what they mean everywhere. */
export function terminalOf({ out, err, in: input, env = process.env }: CliStreams): Terminal {
  const live = (out as MaybeTty).isTTY === true;
  const liveNotes = (err as MaybeTty).isTTY === true;
  const said = /^\d+$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : undefined;
  const colourful = env.NO_COLOR ? false : env.FORCE_COLOR ? env.FORCE_COLOR !== '0' : live && env.TERM !== 'dumb';
  return {
    columns: said ?? (live ? (out as MaybeTty).columns || 80 : undefined),
    colours: pc.createColors(colourful),
    live,
    liveNotes,
    canAsk: liveNotes && (input as MaybeTty | undefined)?.isTTY === true,
  };
}
