// Properties of the terminal: its width, its colours, whether it is interactive.

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
  /** The width in columns; undefined for a pipe or a file, where nothing is cut. */
  readonly columns: number | undefined;
  readonly colours: ReturnType<typeof pc.createColors>;
  /** Stdout is a terminal. */
  readonly live: boolean;
  /** Stderr is a terminal, so progress can be redrawn. */
  readonly liveNotes: boolean;
  /** Questions can be asked. */
  readonly canAsk: boolean;
}

type MaybeTty = { isTTY?: boolean; columns?: number };

/** Inspects the streams; `COLUMNS`, `NO_COLOR` and `FORCE_COLOR` have their usual meaning. */
export function terminalOf({ out, err, in: input, env = process.env }: CliStreams): Terminal {
  const live = (out as MaybeTty).isTTY === true;
  const liveNotes = (err as MaybeTty).isTTY === true;
  const wanted = /^\d+$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : undefined;
  const colourful = env.NO_COLOR ? false : env.FORCE_COLOR ? env.FORCE_COLOR !== '0' : live && env.TERM !== 'dumb';
  return {
    columns: wanted ?? (live ? (out as MaybeTty).columns || 80 : undefined),
    colours: pc.createColors(colourful),
    live,
    liveNotes,
    canAsk: liveNotes && (input as MaybeTty | undefined)?.isTTY === true,
  };
}
