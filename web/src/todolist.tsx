// A list of tasks, in the panel and in the card of the call that wrote it.

import { plain } from "./text";

export interface Task {
  content: string;
  status: string;
}

/** Reads a list of tasks from the input of a call; what is none is left out. */
export function tasks(list: unknown): Task[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    const { content, status } = (one ?? {}) as Partial<Record<keyof Task, unknown>>;
    return typeof content === "string" ? [{ content, status: typeof status === "string" ? status : "pending" }] : [];
  });
}

export function TodoList(props: { todos: Task[] }) {
  return (
    <ul class="todolist">
      {props.todos.map((todo, i) => (
        <li key={i} class={todo.status}>
          {plain(todo.content)}
        </li>
      ))}
    </ul>
  );
}
