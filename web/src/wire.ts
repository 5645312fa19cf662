// The shapes of the HTTP interface that the page uses: OpenCode's, with a field
// "lathe" where lathe says more. Only what is read here is named.

export interface Model {
  providerID: string;
  modelID: string;
  variant?: string;
}

export interface Tokens {
  input: number;
  output: number;
  reasoning: number;
  cache: { read: number; write: number };
}

export interface Session {
  id: string;
  directory: string;
  projectID: string;
  parentID?: string;
  title: string;
  agent?: string;
  model?: { id: string; providerID: string; variant?: string };
  cost?: number;
  tokens?: Tokens;
  time: { created: number; updated: number; archived?: number };
  summary?: { additions: number; deletions: number; files: number };
  share?: { url: string };
  revert?: { messageID: string; partID?: string; diff?: string };
}

export type Status = { type: "idle" } | { type: "busy" } | { type: "retry"; attempt: number; message: string; next: number };

export interface Failure {
  name: string;
  data?: { message?: string };
}

export interface User {
  id: string;
  role: "user";
  sessionID: string;
  time: { created: number };
  agent?: string;
  model?: Model;
}

export interface Assistant {
  id: string;
  role: "assistant";
  sessionID: string;
  parentID?: string;
  time: { created: number; completed?: number };
  modelID?: string;
  providerID?: string;
  agent?: string;
  mode?: string;
  cost?: number;
  tokens?: Tokens;
  error?: Failure;
  finish?: string;
  summary?: boolean;
}

export type Info = User | Assistant;

interface PartHead {
  id: string;
  messageID: string;
  sessionID: string;
}

export interface TextPart extends PartHead {
  type: "text";
  text: string;
  synthetic?: boolean;
  ignored?: boolean;
  time?: { start: number; end?: number };
}

export interface ReasoningPart extends PartHead {
  type: "reasoning";
  text: string;
  time: { start: number; end?: number };
}

export interface FilePart extends PartHead {
  type: "file";
  mime: string;
  filename?: string;
  url: string;
}

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type Meta = Record<string, Json | undefined>;

export type ToolState =
  | { status: "pending"; input: Meta; raw?: string }
  | { status: "running"; input: Meta; title?: string; metadata?: Meta; time: { start: number } }
  | { status: "completed"; input: Meta; output: string; title: string; metadata?: Meta; time: { start: number; end: number }; attachments?: FilePart[] }
  | { status: "error"; input: Meta; error: string; metadata?: Meta; time: { start: number; end: number } };

export interface ToolPart extends PartHead {
  type: "tool";
  callID: string;
  tool: string;
  state: ToolState;
}

export interface OtherPart extends PartHead {
  type: "step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "retry" | "compaction" | "subtask";
  files?: string[];
  name?: string;
  prompt?: string;
  description?: string;
  agent?: string;
  auto?: boolean;
  attempt?: number;
  error?: Failure;
}

export type Part = TextPart | ReasoningPart | FilePart | ToolPart | OtherPart;

export interface Message {
  info: Info;
  parts: Part[];
  lathe?: { seq?: number; steers?: boolean; limit?: string };
}

export interface History {
  messages: Message[];
  event: string;
  more: boolean;
  newer?: boolean;
}

export interface Ask {
  id: string;
  sessionID: string;
  permission: string;
  patterns: string[];
  always: string[];
  metadata: Meta;
  tool?: { messageID: string; callID: string };
}

export interface Question {
  question: string;
  header: string;
  options: { label: string; description?: string }[];
  multiple?: boolean;
  custom?: boolean;
}

export interface QuestionAsk {
  id: string;
  sessionID: string;
  questions: Question[];
}

export interface FileDiff {
  file: string;
  patch?: string;
  diff?: string;
  before?: string;
  after?: string;
  additions: number;
  deletions: number;
}

export interface Todo {
  content: string;
  status: string;
  priority?: string;
}

/** An event of lathe's own stream. */
export interface Event {
  time: number;
  directory?: string;
  type: string;
  properties: unknown;
  lathe?: { seq?: number; steers?: boolean; end?: number };
}

export interface Tally {
  answers: number;
  tokens: { input: number; output: number; reasoning: number; cache: { read: number; write: number } };
  cost: number;
}

export interface Stats {
  sessions: number;
  total: Tally;
  days: Record<string, Tally>;
  models: Record<string, Tally>;
  projects: Record<string, Tally>;
  tools: Record<string, { calls: number; failed: number; ms: number }>;
}

export interface Hit {
  sessionID: string;
  messageID: string;
  title: string;
  updated: number;
  role: string;
  kind: string;
  text: string;
}
