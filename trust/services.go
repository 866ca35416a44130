package trust

import (
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/source"
)

// Services reads the services that act in a value of the key openapi. profile names
// who says it; empty: no profile does. at gives the place of a node. An error is a
// *ServiceError.
func (v View) Services(profile, key string, value *yaml.Node, at func(*yaml.Node) source.Origin) (service.List, error) {
	var entries []service.Entry
	list, err := service.ReadList(value, func(name string, n *yaml.Node) error {
		i := NewItem(Service, profile, join(key, name), at(n), n)
		if !v.State(i).Acts() {
			return nil
		}
		e, err := service.Parse(name, n)
		if err != nil {
			return &ServiceError{i, err}
		}
		e.At, e.Profile, e.Item, e.Digest = i.At, profile, i.Key, i.Digest
		entries = append(entries, e)
		return nil
	})
	list.Entries = entries
	if _, told := err.(*ServiceError); err != nil && !told {
		err = &ServiceError{Item{Kind: Service, Profile: profile, Key: key, At: at(value)}, err}
	}
	return list, err
}

// ServiceError says what is wrong with a service.
type ServiceError struct {
	Item Item
	Err  error
}

func (e *ServiceError) Error() string { return e.Item.Key + ": " + e.Err.Error() }

// OfService is the item that a service is.
func OfService(e *service.Entry) Item {
	return Item{Kind: Service, Profile: e.Profile, Key: e.Item, At: e.At, Text: Show(e.Does()), Digest: e.Digest}
}
