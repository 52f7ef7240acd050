// Properties of the terminal: its width, its colours, whether it is interactive.

import pc from 'picocolors';
import { ansiOf, Painted, type Printable } from './output.js';

/** Where a command reads and writes. */
export interface CliStreams {
  out: NodeJS.WritableStream;
  err: NodeJS.WritableStream;
  in?: NodeJS.ReadableStream;
  env?: NodeJS.ProcessEnv;
}

type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';

/** Colours that make their text visible first. */
export type Colours = Record<Colour, (text: Printable) => Painted> & { readonly isColorSupported: boolean };

/** The terminal of one command. */
export interface Terminal {
  /** The width in columns; undefined for a pipe or a file, where nothing is cut. */
  readonly columns: number | undefined;
  readonly colours: Colours;
  /** Stdout is a terminal. */
  readonly outIsTty: boolean;
  /** Stderr is a terminal, so progress can be redrawn. */
  readonly errIsTty: boolean;
  /** Questions can be asked. */
  readonly canAsk: boolean;
}

type MaybeTty = { isTTY?: boolean; columns?: number };

/** Inspects the streams; `COLUMNS`, `NO_COLOR` and `FORCE_COLOR` have their usual meaning. */
export function terminalOf({ out, err, in: input, env = process.env }: CliStreams): Terminal {
  const outIsTty = (out as MaybeTty).isTTY === true;
  const errIsTty = (err as MaybeTty).isTTY === true;
  const wanted = /^\d+$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : undefined;
  const colourful = env.NO_COLOR ? false : env.FORCE_COLOR ? env.FORCE_COLOR !== '0' : outIsTty && env.TERM !== 'dumb';
  return {
    columns: wanted ?? (outIsTty ? (out as MaybeTty).columns || 80 : undefined),
    colours: coloursOf(colourful),
    outIsTty,
    errIsTty,
    canAsk: errIsTty && (input as MaybeTty | undefined)?.isTTY === true,
  };
}

function coloursOf(colourful: boolean): Colours {
  const colours = pc.createColors(colourful);
  const painter = (colour: Colour) => (text: Printable) => Painted.trusted(colours[colour](ansiOf(text)));
  const [bold, dim, red, green, yellow, blue, cyan] = (['bold', 'dim', 'red', 'green', 'yellow', 'blue', 'cyan'] as const).map(painter);
  return { bold: bold!, dim: dim!, red: red!, green: green!, yellow: yellow!, blue: blue!, cyan: cyan!, isColorSupported: colourful };
}
