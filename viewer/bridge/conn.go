package bridge

import "github.com/gorilla/websocket"

// Conn is an upgraded connection. It has a name here so that no other package needs the websocket library for it.
type Conn = websocket.Conn
