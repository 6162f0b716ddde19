// A page of another site goes for a port of this machine in every way that a page has, and tells in its title what it got.
const query = new URLSearchParams(location.search)
const target = `127.0.0.1:${query.get("port")}${query.get("path")}`

const socket = () => new Promise((done) => {
  const ws = new WebSocket(`ws://${target}`)
  ws.onopen = () => { ws.close(); done("open") }
  ws.onerror = () => done("closed")
})

const ask = async (options) => {
  try {
    const answer = await fetch(`http://${target}`, options)
    return `read ${answer.status} ${(await answer.text()).length}`
  } catch {
    return "blocked"
  }
}

const frame = () => new Promise((done) => {
  const f = document.createElement("iframe")
  f.onload = () => {
    // the browser's own error page fires load too; a framed page of the target would be cross-origin and visible to its own scripts,
    // so what is asked is whether it sent word: the viewer page never frames, and this page can read nothing
    let inside = "blocked"
    try { inside = f.contentDocument ? `read ${f.contentDocument.title}` : "blocked" } catch { inside = "blocked" }
    done(inside)
  }
  f.src = `http://${target}`
  document.documentElement.append(f)
  setTimeout(() => done("blocked"), 5000)
})

addEventListener("load", async () => {
  const results = [`socket=${await socket()}`, `fetch=${await ask({ credentials: "include" })}`,
    `post=${await ask({ method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" })}`, `frame=${await frame()}`]
  document.title = "done " + results.join(" ")
})
