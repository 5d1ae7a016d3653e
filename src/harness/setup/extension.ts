/** The extension of omp: a file of ours that runs inside the program and holds the connection to the daemon. */

/** @param launcher the script that runs this program. @param version of this program, which the daemon is told. */
export function extensionText(launcher: string, version: string): string {
  return source
    .replace('"%LAUNCHER%"', () => JSON.stringify(launcher))
    .replace('"%VERSION%"', () => JSON.stringify(version));
}

const source = String.raw`// Written by service init; replaced by it, removed by service uninstall. Delivers board messages into omp sessions.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { dirname, join } from "node:path";

const launcher = "%LAUNCHER%";
const version = "%VERSION%";

const state = dirname(dirname(launcher));
const own = join(state, "daemon.sock");
const path =
  Buffer.byteLength(own) <= 100
    ? own
    : join("/tmp", "service-" + process.getuid(), createHash("sha256").update(state).digest("hex").slice(0, 16) + ".sock");

/** One connection: frames as lines. */
function open(first, onFrame, onClose) {
  const socket = connect(path);
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("connect", () => socket.write(JSON.stringify({ v: 1, ...first }) + "\n"));
  socket.on("data", (piece) => {
    rest += piece;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      try {
        onFrame(JSON.parse(line));
      } catch {}
    }
  });
  socket.on("error", () => {});
  socket.on("close", onClose);
  return { send: (frame) => socket.write(JSON.stringify({ v: 1, ...frame }) + "\n"), end: () => socket.destroy() };
}

/** A question that is answered once; null when nobody answers in time. What it carries is taken by use. */
function ask(frame, use) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(null), 3000);
    const done = (value) => {
      clearTimeout(timer);
      resolve(value);
      connection.end();
    };
    let carried = null;
    const connection = open(
      frame,
      (answer) => {
        if (answer.event === "ok") return done(carried);
        carried = use ? use(answer) : answer;
        if (answer.handoff_id && carried) connection.send({ op: "received", handoff_id: answer.handoff_id });
        else done(carried);
      },
      () => done(carried),
    );
  });
}

const textOf = (carry) => [carry.nudge, carry.bundle, carry.notice].filter(Boolean).join("\n");

export default function service(pi) {
  let session = null;
  let boot = null;
  let connection = null;
  let pause = 200;
  let running = false;
  let ended = false;
  const added = new Set();
  const subagent = process.env.PI_SUBAGENT_ID || process.env.OMP_SUBAGENT_ID || null;

  const header = () => ({ harness: "omp", session, boot, process: undefined, cwd: process.cwd() });
  const message = (text, options) =>
    pi.sendMessage({ customType: "service", content: text, display: true }, options);

  function hold(source, resumed) {
    ended = false;
    const launch = /^lch_[0-9a-f]{24}$/.exec(process.env.SERVICE_LAUNCH || "")?.[0];
    connection = open(
      { op: "hello", ...header(), source, resumed, extension_version: version, capabilities: ["midturn-peer"], launch },
      (frame) => {
        if (frame.error) return finish();
        if (frame.event === "welcome") {
          pause = 200;
          boot = frame.boot || boot;
          process.env.SERVICE_SESSION = "omp:" + session;
          process.env.SERVICE_BOOT = boot;
          if (frame.note) message(frame.note, { triggerTurn: false });
        }
        if (frame.event === "deliver") deliver(frame);
        if (frame.event === "release") finish();
      },
      () => {
        if (ended) return;
        const wait = pause * (0.5 + Math.random() / 2);
        pause = Math.min(5000, pause * 2);
        if (pause >= 800) spawn(launcher, ["daemon", "start", "--quiet"], { stdio: "ignore", detached: true }).unref();
        setTimeout(() => session && !ended && hold(source, true), wait);
      },
    );
  }

  function deliver(frame) {
    const id = frame.handoff_id;
    if (!added.has(id)) {
      // A turn that began meanwhile is entered by its person alone.
      if (running && frame.class === "owner_only") message(textOf(frame), { deliverAs: "aside" });
      else if (running) message(textOf(frame), { deliverAs: "followUp", triggerTurn: true });
      else message(textOf(frame), { triggerTurn: true });
      added.add(id);
    }
    connection.send({ op: "received", handoff_id: id });
  }

  function finish() {
    ended = true;
    if (connection) connection.end();
  }

  function goodbye() {
    if (connection) connection.send({ op: "goodbye" });
    ended = true;
    session = null;
  }

  const begin = (source) => (event, ctx) => {
    if (subagent) return;
    const id = ctx.sessionManager?.getSessionId?.() ?? event?.sessionId;
    if (!id) return;
    if (session) goodbye();
    session = String(id);
    boot = randomBytes(8).toString("hex");
    for (const name of ["CODEX_THREAD_ID", "CODEX_SESSION_ID"]) delete process.env[name];
    hold(source, false);
  };

  pi.on("session_start", begin("startup"));
  pi.on("session_switch", begin("resume"));
  pi.on("session_branch", begin("clear"));
  pi.on("session_shutdown", () => goodbye());
  pi.on("agent_start", () => {
    running = true;
    if (connection) connection.send({ op: "prompt" });
  });
  pi.on("agent_end", () => {
    running = false;
    if (connection) connection.send({ op: "turn_end" });
  });
  pi.on("before_agent_start", async () => {
    if (subagent || !session) return;
    const text = await ask({ op: "turn_start", ...header() }, textOf);
    if (text) return { message: { customType: "service", content: text, display: true } };
  });
  pi.on("tool_execution_end", async () => {
    if (subagent || !session) return;
    const text = await ask({ op: "boundary", ...header(), capabilities: ["midturn-peer"] }, textOf);
    if (text) message(text, { deliverAs: "aside" });
  });
  pi.on("tool_call", (event) => {
    const command = event.input?.command;
    const runs = typeof command === "string" && /(^|[\s;&|(/])(board-)?service(\s|$)/.test(command);
    if (subagent && event.toolName === "bash" && runs) event.input.command = "export SERVICE_SUBAGENT=" + subagent + "; " + command;
  });
}
`;
